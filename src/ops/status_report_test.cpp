#include "ops/status_report.hpp"

#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::ops {
namespace {

TEST(StatusReport, JoinsCountsAndDeployments) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.publish(test::id_of(2));
  store.fail(test::id_of(2));
  store.publish(test::id_of(3), 3);
  store.bring_generation(2, GenerationState::live);

  const auto report = report_status(*store);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->default_generation, 2);
  ASSERT_EQ(report->generations.size(), 3U);
  EXPECT_EQ(report->generations[0].generation, 1);
  EXPECT_EQ(report->generations[0].pending, 1);
  EXPECT_EQ(report->generations[0].failed, 1);
  EXPECT_EQ(report->generations[0].state, std::nullopt);
  EXPECT_EQ(report->generations[1].state, GenerationState::live);
  EXPECT_EQ(report->generations[1].pending, 0);
  EXPECT_EQ(report->generations[2].generation, 3);
}

TEST(StatusReport, TheJsonFieldsArePinned) {
  StatusReport report;
  report.store = "sqlite:a.db";
  report.schema = {1, 2};
  report.generations.push_back({.generation = 1, .state = GenerationState::draining, .pending = 4, .waiting = 1});
  EXPECT_EQ(to_json(report),
            R"({"store":"sqlite:a.db","schema":{"applied":1,"known":2},"now":"1970-01-01T00:00:00.000000Z",)"
            R"("default_generation":1,"generations":[{"generation":1,"state":"draining","pending":4,"waiting":1,)"
            R"("in_flight":0,"delivered":0,"failed":0,"oldest_pending_at":null}],"discarded":0})");
}

TEST(StatusReport, PassesAnErrorOn) {
  test::EmbeddedStore store;
  test::FaultyStore faulty{*store};
  faulty.fail_verb("status", {ErrorCode::unavailable, Retry::safe, "away", "", ""});
  EXPECT_EQ(report_status(faulty).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
