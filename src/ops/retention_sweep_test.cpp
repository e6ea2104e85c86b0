#include "ops/retention_sweep.hpp"

#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::ops {
namespace {

using std::chrono::days;

class RetentionOnDemand : public testing::Test {
 protected:
  RetentionOnDemand() {
    for (int number = 1; number <= 5; ++number) store_.publish(test::id_of(number));
    for (int number = 1; number <= 4; ++number) store_.deliver(test::id_of(number));
    store_.fail(test::id_of(5));
    store_.now += days{46};
  }
  test::EmbeddedStore store_;
};

TEST_F(RetentionOnDemand, SweepsBatchAfterBatchAndAddsUp) {
  int batches = 0;
  const auto report =
      sweep_retention(*store_, {.batch = 2}, [&](const store::RetentionReport&) { return ++batches > 0; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outbox_tombstoned, 5);
  EXPECT_EQ(report->failed_swept, 1);
  EXPECT_FALSE(report->more);
  EXPECT_EQ(batches, 2);
  store_.now += days{30};
  const auto later = sweep_retention(*store_, {.batch = 2}, [](const store::RetentionReport&) { return true; });
  EXPECT_EQ(later->outbox_deleted, 5);
  EXPECT_EQ(later->handled_deleted, 4);
}

TEST_F(RetentionOnDemand, CanBeEndedBetweenBatches) {
  const auto report = sweep_retention(*store_, {.batch = 2}, [](const store::RetentionReport&) { return false; });
  EXPECT_EQ(report->outbox_tombstoned, 2);
  EXPECT_TRUE(report->more);
}

TEST_F(RetentionOnDemand, APreviewChangesNothing) {
  EXPECT_EQ(preview_sweep(*store_, {}, 100)->outbox_tombstoned, 5);
  EXPECT_TRUE(preview_sweep(*store_, {}, 3)->more);
  for (const auto& event : store_.events()) EXPECT_EQ(event.deleted_at, std::nullopt);
}

TEST_F(RetentionOnDemand, PoliciesThatBreakDedupAreRefused) {
  RetentionPolicies policies;
  policies.event_handled.active = days{52};
  const auto refused =
      sweep_retention(*store_, {.policies = policies, .batch = 2}, [](const store::RetentionReport&) { return true; });
  EXPECT_EQ(refused.error().field, "event_handled.active");
  EXPECT_EQ(preview_sweep(*store_, policies, 2).error().field, "event_handled.active");
}

TEST_F(RetentionOnDemand, PassesAnErrorOn) {
  test::FaultyStore faulty{*store_};
  faulty.fail_call(2, test::Fault::before);
  const auto report = sweep_retention(faulty, {.batch = 2}, [](const store::RetentionReport&) { return true; });
  EXPECT_EQ(report.error().code, ErrorCode::unavailable);
}

TEST_F(RetentionOnDemand, TheJsonFieldsArePinned) {
  EXPECT_EQ(to_json(store::RetentionReport{1, 2, 3, 4, true}, true),
            R"({"dry_run":true,"outbox_tombstoned":1,"outbox_deleted":2,"failed_swept":3,"handled_deleted":4,)"
            R"("more":true})");
}

}  // namespace
}  // namespace sluice::ops
