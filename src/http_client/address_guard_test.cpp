#include "http_client/http_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::http_client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

IpAddress ip(std::string_view text) { return *IpAddress::parse(text); }

TEST(AddressGuard, LetsHostsOfTheInternetPass) {
  EXPECT_EQ(AddressGuard{}.refusal(ip("93.184.216.34")), std::nullopt);
  EXPECT_EQ(AddressGuard{}.refusal(ip("2606:4700::1111")), std::nullopt);
}

TEST(AddressGuard, RefusesWhatIsInside) {
  for (const char* text : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fd00::1",
                           "fe80::1", "::ffff:127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "224.0.0.1"}) {
    EXPECT_TRUE(AddressGuard{}.refusal(ip(text))) << text;
  }
}

TEST(AddressGuard, SaysWhatItIsAndHowToAllowIt) {
  EXPECT_THAT(AddressGuard{}.refusal(ip("127.0.0.1")),
              Optional(AllOf(HasSubstr("loopback"), HasSubstr("allow = [\"127.0.0.1\"]"))));
}

TEST(AddressGuard, WhatIsAllowedPassesAndNothingElse) {
  const AddressGuard guard{{*Network::parse("10.1.0.0/16"), *Network::parse("127.0.0.1")}};
  EXPECT_EQ(guard.refusal(ip("10.1.2.3")), std::nullopt);
  EXPECT_EQ(guard.refusal(ip("127.0.0.1")), std::nullopt);
  EXPECT_EQ(guard.refusal(ip("::ffff:127.0.0.1")), std::nullopt) << "the same host";
  EXPECT_TRUE(guard.refusal(ip("10.2.0.1")));
  EXPECT_TRUE(guard.refusal(ip("64:ff9b::127.0.0.1"))) << "a translator may go elsewhere";
}

}  // namespace
}  // namespace sluice::http_client
