#include "ops/status_report.hpp"

#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

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

TEST(StatusReport, NamesTheWorkersAndWhatNobodyWants) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.announce({.identity = "w1", .generation = 1, .handlers = {}, .listener = "deaf"});
  const auto report = report_status(*store);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->workers.size(), 1U);
  EXPECT_EQ(report->workers[0].listener, "deaf");
  ASSERT_EQ(report->unsubscribed.size(), 1U);
  EXPECT_EQ(report->unsubscribed[0].event_type, "demo.hello");
  store.now += std::chrono::minutes{1};
  EXPECT_TRUE(report_status(*store)->workers.empty());
}

TEST(StatusReport, TheJsonFieldsArePinned) {
  StatusReport report;
  report.store = "sqlite:a.db";
  report.schema = {1, 2};
  report.generations.push_back({.generation = 1, .state = GenerationState::draining, .pending = 4, .waiting = 1});
  report.unsubscribed.push_back({1, "demo.hello", "billing", 12, Timestamp{}});
  EXPECT_EQ(
      to_json(report),
      R"({"store":"sqlite:a.db","schema":{"applied":1,"known":2},"now":"1970-01-01T00:00:00.000000Z",)"
      R"("default_generation":1,"generations":[{"generation":1,"state":"draining","pending":4,"waiting":1,)"
      R"("in_flight":0,"delivered":0,"failed":0,"oldest_pending_at":null,"workers":0,"abandoned":true,"estimated":[]}],)"
      R"("discarded":0,"discarded_estimated":false,"dead_letters":{"count":0,"unacknowledged":0,"capped":false},"workers":[],"sinks":[],"unsubscribed":[{"generation":1,"event_type":"demo.hello",)"
      R"("target":"billing","count":12,"oldest_at":"1970-01-01T00:00:00.000000Z"}]})");
}

TEST(StatusReport, PassesAnErrorOn) {
  test::EmbeddedStore store;
  for (const std::string verb :
       {"status", "workers", "schema_version", "default_generation", "unsubscribed", "count_dead"}) {
    test::FaultyAdministering faulty{store};
    faulty.fail_verb(verb, {ErrorCode::unavailable, Retry::safe, "away", "", ""});
    EXPECT_EQ(report_status(faulty).error().code, ErrorCode::unavailable) << verb;
  }
}

}  // namespace
}  // namespace sluice::ops
