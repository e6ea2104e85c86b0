#include "ops/generations_reroute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::ops {
namespace {

const store::Actor kRerouter{"alice", "cli", "no worker is left"};

class Reroute : public testing::Test {
 protected:
  Reroute() {
    for (int number = 1; number <= 5; ++number) store_.publish(test::id_of(number));
  }
  ReroutePlan plan(Generation from = 1, Generation to = 2) { return test::must(plan_reroute(*store_, from, to)); }
  test::EmbeddedStore store_;
};

TEST_F(Reroute, MovesBatchAfterBatch) {
  std::vector<std::int64_t> progress;
  const auto report = reroute(*store_, plan(), 2, kRerouter, [&](std::int64_t moved) {
    progress.push_back(moved);
    return true;
  });
  EXPECT_EQ(report.moved, 5);
  EXPECT_TRUE(report.complete);
  EXPECT_THAT(progress, testing::ElementsAre(2, 4, 5));
  EXPECT_EQ(plan().from.pending, 0);
  EXPECT_EQ(plan().to.pending, 5);
}

TEST_F(Reroute, CanBeStoppedAfterAnyBatch) {
  const auto report = reroute(*store_, plan(), 2, kRerouter, [](std::int64_t moved) { return moved < 4; });
  EXPECT_EQ(report.moved, 4);
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.failed);
  EXPECT_EQ(plan().from.pending, 1);
}

TEST_F(Reroute, AnErrorKeepsWhatIsMoved) {
  const auto planned = plan();
  test::FaultyStore faulty{*store_};
  faulty.fail_call(2, test::Fault::before);
  const auto report = reroute(faulty, planned, 2, kRerouter, [](std::int64_t) { return true; });
  EXPECT_EQ(report.moved, 2);
  EXPECT_FALSE(report.complete);
  ASSERT_TRUE(report.failed);
  EXPECT_EQ(report.failed->code, ErrorCode::unavailable);
  EXPECT_EQ(plan().to.pending, 2);
}

TEST_F(Reroute, WithoutDeploymentsEveryOtherGenerationWillDo) {
  EXPECT_EQ(plan(1, 9).from.pending, 5);
  EXPECT_EQ(plan_reroute(*store_, 1, 1).error().code, ErrorCode::invalid);
}

TEST_F(Reroute, WithDeploymentsTheTargetMustBeAllocatedOrLive) {
  store_.bring_generation(1, GenerationState::draining);
  store_.bring_generation(2, GenerationState::allocated);
  store_.bring_generation(3, GenerationState::live);
  store_.bring_generation(4, GenerationState::draining);
  store_.bring_generation(5, GenerationState::retired);
  EXPECT_TRUE(plan_reroute(*store_, 1, 2));
  EXPECT_TRUE(plan_reroute(*store_, 1, 3));
  EXPECT_EQ(plan_reroute(*store_, 1, 4).error().code, ErrorCode::conflict);
  EXPECT_EQ(plan_reroute(*store_, 1, 5).error().code, ErrorCode::conflict);
  EXPECT_EQ(plan_reroute(*store_, 1, 6).error().code, ErrorCode::not_found);
}

TEST_F(Reroute, TheJsonFieldsArePinned) {
  EXPECT_EQ(
      to_json({{.generation = 1, .pending = 5, .in_flight = 1}, {.generation = 2}}, {4, false, {}}, false),
      R"({"dry_run":false,"from_generation":1,"to_generation":2,"pending":5,"pending_estimated":false,"in_flight":1,"moved":4,)"
      R"("complete":false})");
}

}  // namespace
}  // namespace sluice::ops
