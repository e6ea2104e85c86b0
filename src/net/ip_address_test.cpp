#include "net/ip_address.hpp"

#include <gtest/gtest.h>

namespace sluice::net {
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

}  // namespace
}  // namespace sluice::net
