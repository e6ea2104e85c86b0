#include "net/address_kind.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice::net {
namespace {

using enum AddressKind;
using Case = std::pair<const char*, AddressKind>;

class AddressKindTest : public testing::TestWithParam<Case> {};

TEST_P(AddressKindTest, IsWhatTheRegistrySays) {
  const auto address = IpAddress::parse(GetParam().first);
  ASSERT_TRUE(address) << GetParam().first;
  EXPECT_EQ(name(kind_of(*address)), name(GetParam().second)) << GetParam().first;
}

INSTANTIATE_TEST_SUITE_P(Ipv4, AddressKindTest,
                         testing::Values(Case{"8.8.8.8", global}, Case{"1.1.1.1", global}, Case{"0.0.0.0", unspecified},
                                         Case{"0.1.2.3", reserved}, Case{"127.0.0.1", loopback},
                                         Case{"127.255.255.255", loopback}, Case{"10.1.2.3", private_use},
                                         Case{"172.16.0.1", private_use}, Case{"172.15.255.255", global},
                                         Case{"172.32.0.0", global}, Case{"192.168.1.1", private_use},
                                         Case{"100.64.0.1", shared}, Case{"100.128.0.0", global},
                                         Case{"169.254.169.254", link_local}, Case{"224.0.0.1", multicast},
                                         Case{"255.255.255.255", reserved}, Case{"192.0.2.1", reserved},
                                         Case{"198.18.0.1", reserved}, Case{"203.0.113.9", reserved}));

INSTANTIATE_TEST_SUITE_P(Ipv6, AddressKindTest,
                         testing::Values(Case{"2606:4700::1111", global}, Case{"::", unspecified},
                                         Case{"::1", loopback}, Case{"fe80::1", link_local},
                                         Case{"fc00::1", private_use}, Case{"fd00:ec2::254", private_use},
                                         Case{"fec0::1", private_use}, Case{"ff02::1", multicast},
                                         Case{"2001:db8::1", reserved}, Case{"100::1", reserved},
                                         Case{"4000::1", reserved}));

INSTANTIATE_TEST_SUITE_P(Ipv4InIpv6, AddressKindTest,
                         testing::Values(Case{"::ffff:127.0.0.1", loopback}, Case{"::ffff:169.254.169.254", link_local},
                                         Case{"::ffff:8.8.8.8", global}, Case{"::127.0.0.1", loopback},
                                         Case{"64:ff9b::127.0.0.1", loopback}, Case{"64:ff9b::8.8.8.8", global},
                                         Case{"64:ff9b:1::10.0.0.1", private_use}, Case{"2002:7f00:1::", loopback},
                                         Case{"2002:a9fe:a9fe::1", link_local}, Case{"2002:808:808::1", global},
                                         Case{"::ffff:0:10.0.0.1", private_use},
                                         Case{"2001:0:4136:e378:8000:63bf:80ff:fffe", loopback}));

}  // namespace
}  // namespace sluice::net
