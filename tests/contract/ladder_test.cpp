#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

SLUICE_CONTRACT(LadderContract);

TEST_P(LadderContract, ProcessesShareTheRowOfAnHour) {
  EXPECT_THAT(must(store().ladder_history()), IsEmpty());
  must(store().record_ladder({.rows = 10, .latencies = {1, 0, 2}}));
  const auto other = second_store();
  must(other->record_ladder({.rows = 12}));
  must(other->record_ladder({.latencies = {1, 1}}));
  const auto history = must(store().ladder_history());
  std::vector<std::int64_t> latencies;
  for (const LadderSample& sample : history) {
    // The hour may end between two of them.
    latencies.resize(std::max(latencies.size(), sample.latencies.size()));
    for (std::size_t at = 0; at < sample.latencies.size(); ++at) latencies[at] += sample.latencies[at];
  }
  EXPECT_THAT(latencies, ElementsAre(2, 1, 2));
  EXPECT_EQ(history.back().rows.value_or(12), 12);
}

TEST_P(LadderContract, TheHourIsTheStores) {
  must(store().record_ladder({.hour = Timestamp{}, .rows = 1}));
  const auto history = must(store().ladder_history());
  ASSERT_THAT(history, SizeIs(1));
  const Timestamp now = must(store().now());
  EXPECT_LE(history.front().hour, now);
  EXPECT_GT(history.front().hour, now - 2h);
  EXPECT_EQ(std::chrono::floor<std::chrono::hours>(history.front().hour), history.front().hour);
}

TEST_P(LadderContract, OldHoursAreForgotten) {
  must(store().record_ladder({.rows = 1}));
  age(24h * 34);
  must(store().record_ladder({.rows = 2}));
  EXPECT_THAT(must(store().ladder_history()), SizeIs(2));
  age(24h * 2);
  EXPECT_THAT(must(store().ladder_history()), SizeIs(1));
  must(store().record_ladder({.rows = 3}));
  EXPECT_EQ(must(store().ladder_history()).front().rows, 2);
}

TEST_P(LadderContract, IncidentsKeepTheHighestOfTheHour) {
  if (store().capabilities().embedded) GTEST_SKIP() << "a file has none";
  must(store().record_ladder({.notify_queue = 0.5, .snapshot_seconds = 10}));
  must(store().record_ladder({.notify_queue = 0.25, .snapshot_seconds = 20, .dead_rows = 3}));
  const auto history = must(store().ladder_history());
  EXPECT_EQ(history.back().snapshot_seconds, 20);
  EXPECT_EQ(history.back().dead_rows, 3);
  EXPECT_EQ(history.front().notify_queue, 0.5);
}

TEST_P(LadderContract, OnlyAnEventThatNeverWaitedIsFresh) {
  NewEvent later = an_event();
  later.delay = 1h;
  const Uuid scheduled = publish(later);
  const Uuid first = publish();
  const ClaimedEvent fresh = claim_one();
  EXPECT_EQ(fresh.envelope.event_id(), first);
  EXPECT_TRUE(fresh.fresh);
  settle(fresh, Outcome::failed(timeout_failure()), minute_retries());
  age(2h);
  const auto again = claim();
  EXPECT_THAT(again, SizeIs(2)) << scheduled.to_string();
  for (const ClaimedEvent& event : again) EXPECT_FALSE(event.fresh);
}

}  // namespace
}  // namespace sluice::contract
