#include "ops/generations_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"

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
  ASSERT_TRUE(store->announce({.identity = "w3", .generation = 3, .handlers = {}, .listener = "polling"}));
  ASSERT_TRUE(store->announce({.identity = "w4", .generation = 4, .handlers = {}, .listener = "polling"}));
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

}  // namespace
}  // namespace sluice::ops
