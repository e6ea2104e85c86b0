#include "core/subscription.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

Route route(std::string_view type, std::optional<std::string_view> target = {}) {
  return {type, target, "outbox_gen_1"};
}

TEST(Interest, TypeIsExactAPrefixOrEverything) {
  EXPECT_TRUE((Interest{"scan.completed", {}, {}}.matches(route("scan.completed"))));
  EXPECT_FALSE((Interest{"scan.completed", {}, {}}.matches(route("scan.completed.v2"))));
  EXPECT_TRUE((Interest{"scan.*", {}, {}}.matches(route("scan.completed.v2"))));
  EXPECT_FALSE((Interest{"scan.*", {}, {}}.matches(route("scanner.started"))));
  EXPECT_TRUE(Interest{}.matches(route("anything")));
}

TEST(Interest, ContextTakesItsOwnEventsAndBroadcasts) {
  const Interest worlds{"*", "worlds", {}};
  EXPECT_TRUE(worlds.matches(route("a", "worlds")));
  EXPECT_TRUE(worlds.matches(route("a")));
  EXPECT_FALSE(worlds.matches(route("a", "billing")));
  EXPECT_TRUE(Interest{}.matches(route("a", "billing")));
}

TEST(Interest, ChannelMustBeTheSame) {
  EXPECT_TRUE((Interest{"*", {}, "outbox_gen_1"}.matches(route("a"))));
  EXPECT_FALSE((Interest{"*", {}, "outbox_gen_1_slow"}.matches(route("a"))));
}

TEST(Subscription, AnyOfItsTypesMatches) {
  const Subscription both{"worlds.indexer", {"scan.*", "map.drawn"}, "worlds", {}};
  EXPECT_TRUE(both.matches(route("scan.completed")));
  EXPECT_TRUE(both.matches(route("map.drawn")));
  EXPECT_FALSE(both.matches(route("map.lost")));
  ASSERT_EQ(both.interests().size(), 2U);
  EXPECT_EQ(both.interests()[1], (Interest{"map.drawn", "worlds", {}}));
}

TEST(Subscription, RefusesBadNamesAndPatternsAndNamesTheMember) {
  const auto field = [](const Subscription& subscription) {
    const auto checked = subscription.validate();
    return checked ? std::string{} : checked.error().field;
  };
  EXPECT_EQ(field({"worlds.indexer"}), "");
  EXPECT_EQ(field({"worlds.indexer", {"scan.*", "*", "scan*", "a.b"}, "worlds", "outbox_gen_1"}), "");
  EXPECT_EQ(field({"indexer"}), "handler_name");
  EXPECT_EQ(field({"worlds.indexer", {}}), "event_types");
  for (const char* bad : {"", "**", "*.scan", "scan.**", "a b", "1scan"}) {
    EXPECT_EQ(field({"worlds.indexer", {bad}}), "event_types") << bad;
  }
  EXPECT_EQ(field({"worlds.indexer", {"*"}, "Worlds"}), "context");
  EXPECT_EQ(field({"worlds.indexer", {"*"}, {}, "no-dash"}), "channel");
}

TEST(Subscription, ScopeIsTheFirstPartOfTheName) {
  EXPECT_EQ(scope_of("worlds.scan.indexer"), "worlds");
  EXPECT_EQ(scope_of("worlds"), "worlds");
}

}  // namespace
}  // namespace sluice
