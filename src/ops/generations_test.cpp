#include "ops/generations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

TEST(GenerationStatus, InWords) {
  GenerationStatus status{.generation = 1, .state = GenerationState::draining, .pending = 118, .in_flight = 2};
  EXPECT_EQ(in_words(status), "draining, 120 left, NO WORKER");
  status.workers = 1;
  EXPECT_EQ(in_words(status), "draining, 120 left");
  status.state = GenerationState::live;
  EXPECT_EQ(in_words(status), "live");
  status.workers = 0;
  EXPECT_EQ(in_words(status), "live, 120 left, NO WORKER");
  status.state.reset();
  EXPECT_EQ(in_words(status), "no deployment, 120 left, NO WORKER");
  EXPECT_EQ(in_words({.generation = 1, .state = GenerationState::draining, .failed = 3}), "draining");
}

TEST(GenerationSurvey, JoinsEventsDeploymentsAndWorkers) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.publish(test::id_of(2), 3);
  store.bring_generation(2, GenerationState::live);
  store.announce({.identity = "w3", .generation = 3, .handlers = {}, .listener = "polling"});
  store.announce({.identity = "w4", .generation = 4, .handlers = {}, .listener = "polling"});
  auto survey = survey_generations(*store);
  ASSERT_TRUE(survey);
  ASSERT_EQ(survey->generations.size(), 4U);
  EXPECT_TRUE(survey->of(1).abandoned());
  EXPECT_EQ(survey->of(2).state, GenerationState::live);
  EXPECT_FALSE(survey->of(2).abandoned());
  EXPECT_EQ(survey->of(3).workers, 1);
  EXPECT_FALSE(survey->of(3).abandoned());
  EXPECT_EQ(survey->of(4).workers, 1);
  EXPECT_EQ(survey->of(9).left(), 0);

  store.now += std::chrono::seconds{31};
  survey = survey_generations(*store);
  EXPECT_TRUE(survey->of(3).abandoned()) << "a worker that is silent takes nothing";
}

TEST(GenerationSurvey, TheJsonOfADeploymentIsContinued) {
  store::Deployment deployment;
  deployment.generation = 1;
  deployment.state = GenerationState::draining;
  EXPECT_EQ(to_json(deployment, {.generation = 1, .state = GenerationState::draining, .pending = 2}),
            R"({"generation":1,"state":"draining","note":"","changed_by":"",)"
            R"("allocated_at":"1970-01-01T00:00:00.000000Z","activated_at":null,"draining_at":null,"retired_at":null,)"
            R"("pending":2,"in_flight":0,"failed":0,"workers":0,"abandoned":true,"estimated":[]})");
}

TEST(GenerationStatus, AnEstimateIsNamedAsOne) {
  const GenerationStatus status{.generation = 1,
                                .state = GenerationState::draining,
                                .pending = 120'000,
                                .delivered = 1'230'000,
                                .pending_estimated = true,
                                .delivered_estimated = true};
  EXPECT_EQ(in_words(status), "draining, about 120000 left, NO WORKER");
  EXPECT_EQ(count_text(1'230'000, true), "about 1230000");
  EXPECT_EQ(count_text(12, false), "12");
  EXPECT_THAT(to_json(status), testing::HasSubstr(R"("estimated":["pending","delivered"])"));
}

class Generations : public testing::Test {
 protected:
  test::EmbeddedStore store_;
};

TEST_F(Generations, ThePreviewOfAnAllocationIsTheNextNumber) {
  EXPECT_EQ(*preview_allocation(*store_, std::nullopt), 1);
  store_.bring_generation(4, GenerationState::live);
  EXPECT_EQ(*preview_allocation(*store_, std::nullopt), 5);
  EXPECT_EQ(*preview_allocation(*store_, 9), 9);
  EXPECT_EQ(preview_allocation(*store_, 4).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->deployments()->size(), 1U);
}

TEST_F(Generations, ThePreviewOfAMoveFollowsTheStates) {
  store_.bring_generation(1, GenerationState::allocated);
  store_.bring_generation(2, GenerationState::retired);
  EXPECT_EQ(preview_move(*store_, 1, GenerationState::live)->generation, 1);
  EXPECT_EQ(preview_move(*store_, 2, GenerationState::live).error().code, ErrorCode::conflict);
  EXPECT_EQ(preview_move(*store_, 3, GenerationState::live).error().code, ErrorCode::not_found);
}

TEST_F(Generations, AMoveToWhereItIsChangesNothing) {
  const store::Actor alice{"alice", "cli", "again"};
  store_.bring_generation(1, GenerationState::allocated);
  EXPECT_TRUE(move_generation(*store_, 1, GenerationState::live, alice)->changed);
  const auto again = move_generation(*store_, 1, GenerationState::live, alice);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->deployment.state, GenerationState::live);
  EXPECT_EQ(preview_move(*store_, 1, GenerationState::live)->state, GenerationState::live);
  EXPECT_EQ(move_generation(*store_, 1, GenerationState::retired, alice).error().code, ErrorCode::conflict);
  EXPECT_EQ(move_generation(*store_, 9, GenerationState::live, alice).error().code, ErrorCode::not_found);
}

TEST_F(Generations, TheJsonFieldsArePinned) {
  store::Deployment deployment;
  deployment.generation = 1;
  deployment.state = GenerationState::live;
  deployment.note = "release";
  EXPECT_EQ(
      to_json(deployment),
      R"({"generation":1,"state":"live","note":"release","changed_by":"",)"
      R"("allocated_at":"1970-01-01T00:00:00.000000Z","activated_at":null,"draining_at":null,"retired_at":null})");
}

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
  test::FaultyAdministering faulty{store_};
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
