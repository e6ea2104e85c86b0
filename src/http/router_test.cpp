#include "http/router.hpp"

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

Route route(std::string method, std::string pattern) {
  return {std::move(method), std::move(pattern), Role::viewer, 0, [](const Call&) { return Response{}; }, {}};
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    router.add(route("GET", "/v1/events"));
    router.add(route("POST", "/v1/events"));
    router.add(route("GET", "/v1/events/{id}"));
    router.add(route("POST", "/v1/events/{id}/replay"));
    router.add(route("GET", "/{rest...}"));
  }
  std::string pattern(std::string_view method, std::string_view path) {
    const auto match = router.find(method, path);
    return match.route == nullptr ? "none" : match.route->method + ' ' + match.route->pattern;
  }
  Router router;
};

TEST_F(RouterTest, FindsByMethodAndPath) {
  EXPECT_EQ(pattern("GET", "/v1/events"), "GET /v1/events");
  EXPECT_EQ(pattern("POST", "/v1/events"), "POST /v1/events");
  EXPECT_EQ(pattern("HEAD", "/v1/events"), "GET /v1/events");
  EXPECT_EQ(pattern("GET", "/v1/events/7"), "GET /v1/events/{id}");
  EXPECT_EQ(pattern("POST", "/v1/events/7/replay"), "POST /v1/events/{id}/replay");
}

TEST_F(RouterTest, GivesTheValuesOfThePath) {
  EXPECT_EQ(router.find("GET", "/v1/events/7").path.at("id"), "7");
  EXPECT_EQ(router.find("GET", "/assets/a/b.js").path.at("rest"), "assets/a/b.js");
  EXPECT_EQ(router.find("GET", "/").path.at("rest"), "");
}

TEST_F(RouterTest, AKnownPathTellsItsMethodsAlsoWhereThereIsACatchAll) {
  EXPECT_EQ(pattern("DELETE", "/v1/events"), "none");
  EXPECT_EQ(router.find("DELETE", "/v1/events").allowed, (std::vector<std::string>{"GET", "POST"}));
  EXPECT_EQ(router.find("GET", "/v1/events/7/replay").allowed, (std::vector<std::string>{"POST"}));
  EXPECT_EQ(router.find("GET", "/v1/events/7/replay").route, nullptr);
  EXPECT_TRUE(router.find("POST", "/v1/event").allowed.empty()) << "there is no such path";
}

TEST(Roles, AreKnownByName) {
  for (const Role role : {Role::viewer, Role::operator_, Role::admin}) EXPECT_EQ(role_of(name(role)), role);
  EXPECT_EQ(role_of("anyone"), std::nullopt);
  EXPECT_LT(Role::viewer, Role::operator_);
  EXPECT_LT(Role::operator_, Role::admin);
}

}  // namespace
}  // namespace sluice::http
