// What is gathered from a store that works, and from one that does not quite.
#include "ops/doctor_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

const Error kAway{ErrorCode::unavailable, Retry::safe, "away", "", ""};

class DoctorFactsTest : public testing::Test {
 protected:
  DoctorOptions options() {
    return {RetentionPolicies{}, [this] { return store_.now; }};
  }
  test::EmbeddedStore store_;
};

TEST_F(DoctorFactsTest, AnEmbeddedStoreHasAFileAndNoServer) {
  store_.publish(test::id_of(1));
  store_.fail(test::id_of(1));
  const auto facts = test::must(gather_facts(*store_, options()));
  EXPECT_EQ(facts.store, store_.path());
  EXPECT_THAT(facts.unseen, IsEmpty());
  EXPECT_FALSE(facts.diagnosis.server);
  ASSERT_TRUE(facts.diagnosis.file);
  EXPECT_GT(facts.diagnosis.file->bytes, 0);
  EXPECT_EQ(facts.diagnosis.file->journal_mode, "wal");
  EXPECT_THAT(facts.diagnosis.file->damage, IsEmpty());
  EXPECT_FALSE(facts.diagnosis.file->owner.empty());
  EXPECT_FALSE(facts.clock_ahead) << "its clock is ours";
  EXPECT_FALSE(facts.hearing);
  EXPECT_EQ(facts.dead_letters->unacknowledged, 1);
}

TEST_F(DoctorFactsTest, ClaimsThatRanOutAndWhatRetentionLeaves) {
  for (int number = 1; number <= 3; ++number) store_.publish(test::id_of(number));
  store_.deliver(test::id_of(1));
  const auto claimed = store_.claim(test::id_of(2));
  const Timestamp published = store_.now;
  store_.now += std::chrono::hours{1};
  const auto facts = test::must(gather_facts(*store_, options()));
  ASSERT_TRUE(facts.diagnosis.expired);
  EXPECT_EQ(facts.diagnosis.expired->count, 1);
  ASSERT_TRUE(facts.diagnosis.expired->oldest);
  EXPECT_GT(*facts.diagnosis.expired->oldest, published);
  EXPECT_LT(*facts.diagnosis.expired->oldest, store_.now);
  ASSERT_TRUE(facts.diagnosis.retention);
  EXPECT_EQ(facts.diagnosis.retention->oldest_finished, published);
  EXPECT_EQ(facts.diagnosis.retention->oldest_tombstone, std::nullopt);
}

TEST_F(DoctorFactsTest, ALookThatFailsDoesNotSpoilTheOthers) {
  for (const std::string verb : {"now", "schema_version", "validate", "workers", "unsubscribed", "count_dead"}) {
    test::FaultyAdministering faulty{store_};
    faulty.fail_verb(verb, kAway);
    const auto facts = test::must(gather_facts(faulty, options()));
    EXPECT_EQ(facts.unseen.size(), 1U) << verb;
    EXPECT_TRUE(facts.diagnosis.file) << verb;
  }
}

TEST_F(DoctorFactsTest, AStoreThatFailsAltogetherIsAFinding) {
  test::FaultyAdministering faulty{store_};
  faulty.fail_verb("diagnose", kAway);
  const DoctorReport report = examine(faulty, options());
  EXPECT_THAT(report.findings, ElementsAre(Field(&Finding::id, FindingId::store_unreachable)));
  EXPECT_EQ(report.worst(), Severity::critical);
}

TEST_F(DoctorFactsTest, AnotherSchemaIsNotLookedInto) {
  store_.add_future_migration();
  const auto facts = test::must(gather_facts(*store_, options()));
  EXPECT_EQ(facts.schema->applied, 999);
  EXPECT_FALSE(facts.survey);
  EXPECT_THAT(facts.unseen, IsEmpty());
}

}  // namespace
}  // namespace sluice::ops
