#include "core/ladder.hpp"

#include <gmock/gmock.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

const Timestamp kLadderNow = *parse_iso8601("2026-03-20T12:30:00Z");
constexpr LadderStage kOneTable{};
constexpr int kHoursOfAWeek = 7 * 24;

std::vector<std::int64_t> latencies(std::int64_t fast, std::int64_t slow) {
  std::vector<std::int64_t> buckets(kLadderLatencyBounds.size() + 1);
  buckets[3] = fast;  // up to 10 ms
  buckets[9] = slow;  // 500 ms to 1 s
  return buckets;
}

/// One for each of the last `hours` hours, the newest last.
std::vector<LadderSample> hours(int count, LadderSample like, Timestamp now = kLadderNow) {
  std::vector<LadderSample> samples;
  for (int ago = count - 1; ago >= 0; --ago) {
    like.hour = std::chrono::floor<std::chrono::hours>(now) - std::chrono::hours{ago};
    samples.push_back(like);
  }
  return samples;
}

const LadderTrigger& trigger(const LadderVerdict& verdict, LadderTriggerId id) {
  for (const LadderTrigger& one : verdict.triggers) {
    if (one.id == id) return one;
  }
  throw std::out_of_range(std::string{name(id)});
}

LadderSample with_rows(std::int64_t rows) { return {.rows = rows}; }

TEST(Ladder, AWeekAboveFiveMillionRowsIsSteady) {
  const auto verdict = judge_ladder(hours(kHoursOfAWeek + 1, with_rows(5'000'001)), kOneTable, kLadderNow);
  EXPECT_EQ(verdict.due, LadderStep::partition);
  EXPECT_THAT(verdict.why, testing::HasSubstr("5.0M rows for a week"));
  EXPECT_EQ(trigger(verdict, LadderTriggerId::rows).since, verdict.known_since);
}

TEST(Ladder, AnHourLessThanAWeekIsNot) {
  const auto verdict = judge_ladder(hours(kHoursOfAWeek, with_rows(9'000'000)), kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_TRUE(trigger(verdict, LadderTriggerId::rows).since);
  EXPECT_THAT(verdict.why, testing::HasSubstr("not yet for a week"));
}

TEST(Ladder, ExactlyTheThresholdIsNotAboveIt) {
  const auto verdict = judge_ladder(hours(kHoursOfAWeek + 1, with_rows(5'000'000)), kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_FALSE(trigger(verdict, LadderTriggerId::rows).since);
  EXPECT_EQ(verdict.why, "no trigger is above its threshold");
}

TEST(Ladder, OneHourBelowBeginsTheWeekAnew) {
  auto samples = hours(2 * kHoursOfAWeek, with_rows(9'000'000));
  samples[samples.size() - 30].rows = 4'000'000;
  const auto verdict = judge_ladder(samples, kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_EQ(trigger(verdict, LadderTriggerId::rows).since, samples[samples.size() - 29].hour);
}

TEST(Ladder, NoHistoryAndOneSampleAreNoWeek) {
  EXPECT_FALSE(judge_ladder({}, kOneTable, kLadderNow).due);
  EXPECT_EQ(judge_ladder({}, kOneTable, kLadderNow).known_since, kLadderNow);
  const auto verdict = judge_ladder(hours(1, with_rows(9'000'000)), kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_EQ(trigger(verdict, LadderTriggerId::rows).value, 9e6);
}

TEST(Ladder, AGapEndsWhatHeldBeforeIt) {
  auto samples = hours(3 * kHoursOfAWeek, with_rows(9'000'000));
  samples.erase(samples.end() - 14, samples.end() - 10);
  const auto verdict = judge_ladder(samples, kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due) << "four hours nobody knows about";
  EXPECT_EQ(verdict.known_since, samples[samples.size() - 10].hour);

  samples = hours(3 * kHoursOfAWeek, with_rows(9'000'000));
  samples.erase(samples.end() - 13, samples.end() - 10);
  EXPECT_EQ(judge_ladder(samples, kOneTable, kLadderNow).due, LadderStep::partition)
      << "three hours, a restart, are no gap";
}

TEST(Ladder, AHistoryThatEndedLongAgoSaysNothing) {
  const auto verdict =
      judge_ladder(hours(2 * kHoursOfAWeek, with_rows(9'000'000), kLadderNow - 24h), kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_EQ(verdict.known_since, kLadderNow);
}

TEST(Ladder, AClockThatWasSetBackLeavesSamplesFromTheFutureOut) {
  auto samples = hours(2 * kHoursOfAWeek, with_rows(1000));
  for (const LadderSample& sample : hours(kHoursOfAWeek, with_rows(9'000'000), kLadderNow + 24h * 8))
    samples.push_back(sample);
  const auto verdict = judge_ladder(samples, kOneTable, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_EQ(trigger(verdict, LadderTriggerId::rows).value, 1000);
}

TEST(Ladder, TheOrderOfTheSamplesDoesNotMatter) {
  auto samples = hours(kHoursOfAWeek + 1, with_rows(9'000'000));
  std::reverse(samples.begin(), samples.end());
  EXPECT_EQ(judge_ladder(samples, kOneTable, kLadderNow).due, LadderStep::partition);
}

TEST(Ladder, PartitionsStandTwentyMillion) {
  const LadderStage partitioned{.partitioned = true};
  EXPECT_FALSE(judge_ladder(hours(kHoursOfAWeek + 1, with_rows(19'000'000)), partitioned, kLadderNow).due);
  EXPECT_EQ(judge_ladder(hours(kHoursOfAWeek + 1, with_rows(21'000'000)), partitioned, kLadderNow).due,
            LadderStep::relay);
}

TEST(Ladder, ARelayThatIsOnIsNotDueAgain) {
  LadderSample busy{.rows = 21'000'000, .latencies = latencies(1, 9), .notify_queue = 0.5, .dead_rows = 9'000'000};
  const LadderStage stage{.partitioned = true, .relayed = true};
  const auto verdict = judge_ladder(hours(kHoursOfAWeek + 1, busy), stage, kLadderNow);
  EXPECT_FALSE(verdict.due);
  EXPECT_EQ(verdict.why, "rows_partitioned is above its threshold, but a broker carries the deliveries already");
  for (const LadderTrigger& one : verdict.triggers) EXPECT_FALSE(one.due) << name(one.id);
  EXPECT_TRUE(trigger(verdict, LadderTriggerId::latency).since) << "what is measured is shown all the same";
  EXPECT_EQ(judge_ladder(hours(kHoursOfAWeek + 1, with_rows(1000)), stage, kLadderNow).why,
            "a broker carries the deliveries; no trigger is above its threshold");
}

TEST(Ladder, PartitionsAreDueUnderARelayToo) {
  const LadderStage stage{.relayed = true};
  const auto verdict = judge_ladder(hours(kHoursOfAWeek + 1, with_rows(9'000'000)), stage, kLadderNow);
  EXPECT_EQ(verdict.due, LadderStep::partition);
  EXPECT_THAT(judge_ladder(hours(kHoursOfAWeek, with_rows(9'000'000)), stage, kLadderNow).why,
              testing::HasSubstr("not yet for a week"));
}

TEST(Ladder, TheP99IsJudgedDayByDay) {
  const auto slow = judge_ladder(hours(kHoursOfAWeek + 1, {.latencies = latencies(98, 2)}), kOneTable, kLadderNow);
  EXPECT_EQ(slow.due, LadderStep::relay);
  EXPECT_GT(*trigger(slow, LadderTriggerId::latency).value, 0.5);
  EXPECT_FALSE(judge_ladder(hours(kHoursOfAWeek + 1, {.latencies = latencies(100, 1)}), kOneTable, kLadderNow).due);

  auto flood = hours(kHoursOfAWeek + 1, {.latencies = latencies(100, 0)});
  flood[50].latencies = latencies(0, 1'000'000);
  EXPECT_FALSE(judge_ladder(flood, kOneTable, kLadderNow).due) << "one hour of a million slow events is not a week";

  auto nights = hours(kHoursOfAWeek + 1, {.latencies = latencies(900, 100)});
  for (std::size_t at = 0; at < nights.size(); at += 3) nights[at].latencies = latencies(2, 0);
  EXPECT_EQ(judge_ladder(nights, kOneTable, kLadderNow).due, LadderStep::relay) << "quiet hours do not end it";

  auto sundays = hours(kHoursOfAWeek + 1, {.latencies = latencies(900, 100)});
  for (std::size_t at = 30; at < 90; ++at) sundays[at].latencies.clear();
  EXPECT_EQ(judge_ladder(sundays, kOneTable, kLadderNow).due, LadderStep::relay) << "nor does a day without events";
}

TEST(Ladder, OneIncidentIsEnoughForAWeek) {
  auto samples = hours(3 * kHoursOfAWeek, {.rows = 10, .notify_queue = 0.01});
  samples[samples.size() - 20].notify_queue = 0.26;
  const auto verdict = judge_ladder(samples, kOneTable, kLadderNow);
  EXPECT_EQ(verdict.due, LadderStep::relay);
  EXPECT_EQ(trigger(verdict, LadderTriggerId::notify_queue).since, samples[samples.size() - 20].hour);
  EXPECT_THAT(verdict.why, testing::HasSubstr("26 % full"));
  samples[samples.size() - 20].notify_queue = 0.25;
  samples[10].notify_queue = 0.9;
  EXPECT_FALSE(judge_ladder(samples, kOneTable, kLadderNow).due) << "of another week";
}

TEST(Ladder, SnapshotsAndBloatAreIncidents) {
  EXPECT_EQ(judge_ladder(hours(2, {.snapshot_seconds = 3601}), kOneTable, kLadderNow).due, LadderStep::relay);
  EXPECT_FALSE(judge_ladder(hours(2, {.snapshot_seconds = 3600}), kOneTable, kLadderNow).due);
  EXPECT_EQ(judge_ladder(hours(2, {.dead_rows = 5'000'001}), kOneTable, kLadderNow).due, LadderStep::relay);
}

TEST(Ladder, TheCheaperStepComesFirst) {
  const auto verdict =
      judge_ladder(hours(kHoursOfAWeek + 1, {.rows = 9'000'000, .notify_queue = 0.5}), kOneTable, kLadderNow);
  EXPECT_EQ(verdict.due, LadderStep::partition);
}

TEST(Ladder, AFileMovesToPostgres) {
  const LadderStage file{.embedded = true};
  EXPECT_EQ(judge_ladder(hours(kHoursOfAWeek + 1, with_rows(9'000'000)), file, kLadderNow).due, LadderStep::postgres);
  const auto slow = judge_ladder(hours(kHoursOfAWeek + 1, {.latencies = latencies(1, 9)}), file, kLadderNow);
  EXPECT_EQ(slow.due, LadderStep::postgres);
  EXPECT_EQ(slow.triggers.size(), 2U) << "it has no NOTIFY queue and no snapshots";
}

TEST(LadderSample, ProcessesAddUp) {
  LadderSample one{.rows = 10, .latencies = {1, 2}, .notify_queue = 0.5};
  add(one, {.rows = 12, .latencies = {1, 1, 1}, .notify_queue = 0.1, .dead_rows = 3});
  EXPECT_EQ(one.rows, 12);
  EXPECT_THAT(one.latencies, testing::ElementsAre(2, 3, 1));
  EXPECT_EQ(one.notify_queue, 0.5);
  EXPECT_EQ(one.dead_rows, 3);
  EXPECT_FALSE(one.snapshot_seconds);
}

TEST(LadderQuantile, SpreadsWithinItsBucket) {
  EXPECT_FALSE(ladder_quantile({}, 0.99));
  EXPECT_FALSE(ladder_quantile({0, 0}, 0.99));
  EXPECT_DOUBLE_EQ(*ladder_quantile({0, 10}, 0.5), 0.0015);
  EXPECT_EQ(ladder_quantile(std::vector<std::int64_t>(19, 0), 0.5), std::nullopt);
  std::vector<std::int64_t> beyond(19);
  beyond[18] = 1;
  EXPECT_EQ(ladder_quantile(beyond, 0.99), 7200.0);
}

TEST(LadderStepText, EachStepSaysItsCommandAndItsCost) {
  for (const LadderStep step : {LadderStep::partition, LadderStep::relay, LadderStep::postgres}) {
    EXPECT_FALSE(name(step).empty());
    EXPECT_TRUE(command(step).starts_with("sluice "));
    EXPECT_GT(cost(step).size(), 50U);
  }
}

}  // namespace
}  // namespace sluice
