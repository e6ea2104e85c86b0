#include "ops/ladder.hpp"

#include <gmock/gmock.h>

#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

TEST(LadderStatus, ANewFileHasNoHistory) {
  test::EmbeddedStore store;
  const auto report = report_ladder(*store);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->verdict.due);
  EXPECT_EQ(report->verdict.known_since, report->now);
  EXPECT_EQ(value_text(report->verdict.triggers.front()), "-");
  EXPECT_EQ(threshold_text(report->verdict.triggers.front()), "5.0M rows");
  EXPECT_THAT(to_json(*report), HasSubstr(R"("stage":"embedded")"));
  EXPECT_THAT(to_json(*report), HasSubstr(R"("due":null)"));
}

TEST(LadderStatus, AWeekOfHoursInTheFileMakesTheMoveDue) {
  test::EmbeddedStore store;
  for (int hour = 0; hour <= 7 * 24; ++hour) {
    ASSERT_TRUE(store->record_ladder({.rows = 6'000'000}));
    if (hour < 7 * 24) store.now += std::chrono::hours{1};
  }
  store.now += std::chrono::minutes{1};
  const auto report = report_ladder(*store);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.due, LadderStep::postgres);
  EXPECT_EQ(value_text(report->verdict.triggers.front()), "6.0M rows");
  EXPECT_THAT(to_json(*report), HasSubstr(R"("due":{"step":"move","command":"sluice move)"));
  store.now += std::chrono::hours{5};
  EXPECT_FALSE(report_ladder(*store)->verdict.due) << "nobody has looked for five hours";
}

TEST(LadderStatus, PartitionsAreAStageOfAServer) {
  store::Diagnosis diagnosis;
  EXPECT_TRUE(stage_of(diagnosis, {.embedded = true}, {}).embedded);
  diagnosis.server.emplace();
  diagnosis.server->outbox = store::TableFacts{.partitioned = true};
  EXPECT_TRUE(stage_of(diagnosis, {}, {}).partitioned);
}

TEST(LadderStatus, ARelayIsAStageWhileItCarriesTheDeliveries) {
  for (const store::RelayState state : {store::RelayState::on, store::RelayState::draining}) {
    EXPECT_EQ(name(stage_of({}, {}, {.state = state, .broker = "nats"})), "relayed");
  }
  EXPECT_EQ(name(stage_of({}, {}, {})), "one_table");
  EXPECT_EQ(name(LadderStage{.partitioned = true, .relayed = true}), "relayed");
}

}  // namespace
}  // namespace sluice::ops
