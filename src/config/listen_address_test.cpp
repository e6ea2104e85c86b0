#include "config/listen_address.hpp"

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

TEST(ListenAddress, ReadsNamesAndAddresses) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:7311"), (ListenAddress{"127.0.0.1", 7311}));
  EXPECT_EQ(parse_listen_address("localhost:0"), (ListenAddress{"localhost", 0}));
  EXPECT_EQ(parse_listen_address("[::1]:80"), (ListenAddress{"::1", 80}));
}

TEST(ListenAddress, IsShownAsItIsWritten) {
  for (const char* text : {"127.0.0.1:7311", "[::1]:80"}) EXPECT_EQ(parse_listen_address(text)->display(), text);
}

TEST(ListenAddress, RefusesTheRest) {
  for (const char* text : {"", ":80", "host", "host:", "host:65536", "host:-1", "host:80x", "::1:80", "[]:80",
                           "[host]:80", "a b:80", "http://host:80", "host/:80"}) {
    EXPECT_EQ(parse_listen_address(text), std::nullopt) << text;
  }
}

TEST(Prefix, IsAPathWithoutASlashAtTheEnd) {
  EXPECT_EQ(parse_prefix("/ops/sluice"), "/ops/sluice");
  EXPECT_EQ(parse_prefix("/"), "");
  EXPECT_EQ(parse_prefix(""), "");
}

TEST(Prefix, RefusesWhatABrowserWouldChange) {
  for (const char* text : {"ops", "/ops/", "/a//b", "/a/../b", "/a b", "/a?b", "/a#b", "/a%20b", "//"}) {
    EXPECT_EQ(parse_prefix(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sluice::config
