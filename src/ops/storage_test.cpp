#include "ops/storage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using std::chrono::days;
using namespace std::chrono_literals;
using testing::HasSubstr;

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
  test::FaultyAdministering faulty{store_};
  faulty.fail_call(2, test::Fault::before);
  const auto report = sweep_retention(faulty, {.batch = 2}, [](const store::RetentionReport&) { return true; });
  EXPECT_EQ(report.error().code, ErrorCode::unavailable);
}

TEST_F(RetentionOnDemand, TheJsonFieldsArePinned) {
  EXPECT_EQ(to_json(store::RetentionReport{1, 2, 3, 4, true}, true),
            R"({"dry_run":true,"outbox_tombstoned":1,"outbox_deleted":2,"failed_swept":3,"handled_deleted":4,)"
            R"("more":true,"partitions":[]})");
}

Uuid stored_id(int n) { return *Uuid::parse("0196b2f1-7c1e-7a3b-9d2e-00000000000" + std::to_string(n)); }

TEST(StorageReport, TellsTheFileTheEventsAndWhatRetentionWouldDo) {
  test::EmbeddedStore store;
  for (int n = 1; n <= 4; ++n) store.publish(stored_id(n));
  store.deliver(stored_id(1));
  store.deliver(stored_id(2));
  store.fail(stored_id(3));
  store.now += std::chrono::days{50};
  const std::string json = to_json(test::must(report_storage(*store, {})));
  EXPECT_THAT(json, HasSubstr(R"({"kind":"sqlite","store":")"));
  EXPECT_THAT(json, HasSubstr(R"("journal_mode":"wal")"));
  EXPECT_THAT(json, HasSubstr(R"("events":{"pending":1,"waiting":0,"in_flight":0,"failed":1,"delivered":2})"));
  EXPECT_THAT(json, HasSubstr(R"("failed":"exact","delivered":"estimate"})"));
  EXPECT_THAT(json, HasSubstr(R"("retention":{"outbox":{"active":"45d","grace":"7d"})"));
  EXPECT_THAT(json, HasSubstr(R"("preview":{"dry_run":true,"outbox_tombstoned":3,)"));
}

TEST(StorageReport, ChangesNothing) {
  test::EmbeddedStore store;
  store.publish(stored_id(1));
  store.deliver(stored_id(1));
  store.now += std::chrono::days{50};
  test::must(report_storage(*store, {}));
  EXPECT_FALSE(store.events().front().deleted_at);
}

TEST(StorageReport, TheServersStatisticsAreToldAsTheyAre) {
  StorageReport report;
  report.store = "postgres://db/app";
  report.gauges.dead_capped = true;
  report.gauges.generations = {{1, 20'000, {}, 0, 2, store::kGaugeLook}};
  store::ServerFacts server;
  server.version_text = "15.4";
  server.outbox = store::TableFacts{50'000, 700, 1'234'567, {}};
  server.xmin = std::vector<store::XminHolder>{{store::XminHolder::Kind::slot, {}, "standby_1", 4711}};
  server.notify = store::NotifyFacts{0.125, 0, {}};
  report.diagnosis.server = server;
  const std::string json = to_json(report);
  EXPECT_THAT(json, HasSubstr(R"("kind":"postgres")"));
  EXPECT_THAT(json, HasSubstr(R"("rows":50000,"dead_tuples":700,"bytes":1234567,"vacuumed_at":null)"));
  EXPECT_THAT(json, HasSubstr(R"("xmin_age_transactions":4711,"xmin_holders":[{"kind":"slot","who":"standby_1")"));
  EXPECT_THAT(json, HasSubstr(R"("notify_queue_percent":12.5)"));
  EXPECT_THAT(json, HasSubstr(R"("delivered":19998})"));
  EXPECT_THAT(json, HasSubstr(R"("pending":"estimate","waiting":"estimate","in_flight":"exact","failed":"at_least")"));
}

TEST(StorageReport, AStoreThatDoesNotAnswerIsAnError) {
  for (const std::string verb : {"gauges", "diagnose", "sweep_retention"}) {
    test::EmbeddedStore store;
    test::FaultyAdministering faulty{store};
    faulty.fail_verb(verb, {ErrorCode::unavailable, Retry::safe, "away", "", ""});
    EXPECT_FALSE(report_storage(faulty, {})) << verb;
  }
}

}  // namespace
}  // namespace sluice::ops
