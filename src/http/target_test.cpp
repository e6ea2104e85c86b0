#include "http/target.hpp"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

TEST(Target, PathAndQueryAreDecodedOnce) {
  const auto target = parse_target("/v1/events/a%20b?filter=type%3Aa.b+since%3A2h&limit=7&flag");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/events/a b");
  EXPECT_EQ(target->query.at("filter"), "type:a.b since:2h");
  EXPECT_EQ(target->query.at("limit"), "7");
  EXPECT_EQ(target->query.at("flag"), "");
  EXPECT_EQ(parse_target("/")->path, "/");
  EXPECT_EQ(parse_target("/dlq/")->path, "/dlq/");
  EXPECT_EQ(parse_target("/%2541")->path, "/%41") << "not twice";
}

TEST(Target, WhatCouldMeanAnotherPlaceIsRefused) {
  for (const char* text : {"",
                           "v1",
                           "http://elsewhere/v1",
                           "*",
                           "/../etc/passwd",
                           "/a/../b",
                           "/a/./b",
                           "/%2e%2e/b",
                           "/a//b",
                           "/a%2Fb",
                           "/a%5Cb",
                           "/a%00b",
                           "/a%0Ab",
                           "/a%",
                           "/a%4",
                           "/a%zz",
                           "/a%ff",
                           "/a#b",
                           "/a?b#c",
                           "/a?b=%zz",
                           "/a?b=%ff",
                           "/a?b=1&b=2"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
  EXPECT_EQ(parse_target("/a?limit=1&limit=2").error().field, "limit");
}

TEST(Target, BelowAPrefix) {
  EXPECT_EQ(below("", "/v1"), "/v1");
  EXPECT_EQ(below("/ops/sluice", "/ops/sluice/v1"), "/v1");
  EXPECT_EQ(below("/ops/sluice", "/ops/sluice"), "/");
  EXPECT_EQ(below("/ops/sluice", "/ops/sluices"), std::nullopt);
  EXPECT_EQ(below("/ops/sluice", "/v1"), std::nullopt);
}

}  // namespace
}  // namespace sluice::http
