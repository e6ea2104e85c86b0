#include "core/ip_address.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice {
namespace {

IpAddress ip(std::string_view text) {
  const auto address = IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return address.value_or(IpAddress{});
}

bool contains(std::string_view network, std::string_view address) {
  const auto parsed = Network::parse(network);
  EXPECT_TRUE(parsed) << network;
  return parsed && parsed->contains(ip(address));
}

TEST(IpAddress, IsShownAsItIsWritten) {
  for (const char* text : {"192.0.2.1", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1"}) {
    EXPECT_EQ(ip(text).to_string(), text);
  }
}

TEST(IpAddress, AMappedAddressIsTheIpv4One) {
  EXPECT_EQ(ip("::ffff:10.0.0.1"), ip("10.0.0.1"));
  EXPECT_EQ(ip("::ffff:a00:1"), ip("10.0.0.1"));
  EXPECT_TRUE(ip("::ffff:10.0.0.1").is_v4());
  EXPECT_FALSE(ip("::10.0.0.1").is_v4());
}

TEST(IpAddress, RefusesOtherNotations) {
  for (const std::string_view text : {"", "localhost", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "256.0.0.1", "[::1]",
                                      "fe80::1%eth0", ":::1", "1.2.3.4 "}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view{"1.2.3.4\0x", 9}));
}

TEST(Network, ContainsWhatSharesItsPrefix) {
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("172.16.0.0/12", "172.31.255.255"));
  EXPECT_FALSE(contains("172.16.0.0/12", "172.32.0.0"));
  EXPECT_TRUE(contains("fd00::/8", "fdff::1"));
  EXPECT_FALSE(contains("fd00::/8", "fe00::1"));
  EXPECT_TRUE(contains("127.0.0.1", "::ffff:127.0.0.1"));
  EXPECT_FALSE(contains("127.0.0.1", "127.0.0.2"));
  EXPECT_TRUE(contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(contains("::/0", "8.8.8.8"));
}

TEST(Network, RefusesWhatIsNoNetwork) {
  for (const char* text :
       {"10.0.0.0/33", "10.0.0.1/8", "::1/129", "10.0.0.0/", "10.0.0.0/-1", "ten/8", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(Network::parse(text)) << text;
  }
}

using enum AddressKind;
using KindCase = std::pair<const char*, AddressKind>;

class AddressKindTest : public testing::TestWithParam<KindCase> {};

TEST_P(AddressKindTest, IsWhatTheRegistrySays) {
  const auto address = IpAddress::parse(GetParam().first);
  ASSERT_TRUE(address) << GetParam().first;
  EXPECT_EQ(name(kind_of(*address)), name(GetParam().second)) << GetParam().first;
}

INSTANTIATE_TEST_SUITE_P(Ipv4, AddressKindTest,
                         testing::Values(KindCase{"8.8.8.8", global}, KindCase{"1.1.1.1", global},
                                         KindCase{"0.0.0.0", unspecified}, KindCase{"0.1.2.3", reserved},
                                         KindCase{"127.0.0.1", loopback}, KindCase{"127.255.255.255", loopback},
                                         KindCase{"10.1.2.3", private_use}, KindCase{"172.16.0.1", private_use},
                                         KindCase{"172.15.255.255", global}, KindCase{"172.32.0.0", global},
                                         KindCase{"192.168.1.1", private_use}, KindCase{"100.64.0.1", shared},
                                         KindCase{"100.128.0.0", global}, KindCase{"169.254.169.254", link_local},
                                         KindCase{"224.0.0.1", multicast}, KindCase{"255.255.255.255", reserved},
                                         KindCase{"192.0.2.1", reserved}, KindCase{"198.18.0.1", reserved},
                                         KindCase{"203.0.113.9", reserved}));

INSTANTIATE_TEST_SUITE_P(Ipv6, AddressKindTest,
                         testing::Values(KindCase{"2606:4700::1111", global}, KindCase{"::", unspecified},
                                         KindCase{"::1", loopback}, KindCase{"fe80::1", link_local},
                                         KindCase{"fc00::1", private_use}, KindCase{"fd00:ec2::254", private_use},
                                         KindCase{"fec0::1", private_use}, KindCase{"ff02::1", multicast},
                                         KindCase{"2001:db8::1", reserved}, KindCase{"100::1", reserved},
                                         KindCase{"4000::1", reserved}));

INSTANTIATE_TEST_SUITE_P(Ipv4InIpv6, AddressKindTest,
                         testing::Values(KindCase{"::ffff:127.0.0.1", loopback},
                                         KindCase{"::ffff:169.254.169.254", link_local},
                                         KindCase{"::ffff:8.8.8.8", global}, KindCase{"::127.0.0.1", loopback},
                                         KindCase{"64:ff9b::127.0.0.1", loopback}, KindCase{"64:ff9b::8.8.8.8", global},
                                         KindCase{"64:ff9b:1::10.0.0.1", private_use},
                                         KindCase{"2002:7f00:1::", loopback}, KindCase{"2002:a9fe:a9fe::1", link_local},
                                         KindCase{"2002:808:808::1", global},
                                         KindCase{"::ffff:0:10.0.0.1", private_use},
                                         KindCase{"2001:0:4136:e378:8000:63bf:80ff:fffe", loopback}));

}  // namespace
}  // namespace sluice
