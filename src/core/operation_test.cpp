#include "core/operation.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using What = OperationStep::What;

constexpr Timestamp kNow{1'000'000s};

OperationProgress running(std::int64_t total) {
  OperationProgress progress;
  progress.state = OperationState::running;
  progress.counts.total = total;
  return progress;
}

/// With a canary of ten, all of them taken.
OperationProgress canary_out(std::int64_t delivered, std::int64_t failed_again) {
  OperationProgress progress = running(100);
  progress.settings.canary = 10;
  progress.counts.taken = 10;
  progress.counts.delivered = delivered;
  progress.counts.failed_again = failed_again;
  return progress;
}

/// Follows the steps, the canary apart, as if each were carried out at once and nothing else took time.
std::int64_t taken_within(OperationProgress progress, Duration time) {
  progress.counts.taken = 0;
  for (Timestamp now = kNow; now < kNow + time;) {
    const OperationStep step = next_step(progress, now);
    if (step.what == What::act) {
      progress.counts.taken += step.limit;
      progress.counts.delivered += step.limit;
      progress.paced_at = step.paced_at;
    } else {
      now += step.wait_for;
    }
  }
  return progress.counts.taken;
}

TEST(OperationNames, AreReadBack) {
  for (const auto kind : {OperationKind::replay, OperationKind::discard, OperationKind::restore}) {
    EXPECT_EQ(parse_operation_kind(name(kind)), kind);
  }
  for (const auto state : {OperationState::planned, OperationState::running, OperationState::paused,
                           OperationState::stopped, OperationState::cancelled, OperationState::finished}) {
    EXPECT_EQ(parse_operation_state(name(state)), state);
  }
  EXPECT_EQ(parse_operation_kind("delete"), std::nullopt);
  EXPECT_EQ(parse_operation_state("done"), std::nullopt);
}

TEST(OperationNames, StoppedCancelledAndFinishedAreOver) {
  EXPECT_TRUE(is_over(OperationState::stopped));
  EXPECT_TRUE(is_over(OperationState::cancelled));
  EXPECT_TRUE(is_over(OperationState::finished));
  EXPECT_FALSE(is_over(OperationState::planned));
  EXPECT_FALSE(is_over(OperationState::running));
  EXPECT_FALSE(is_over(OperationState::paused));
}

TEST(OperationCounts, AddUp) {
  const OperationCounts counts{
      .total = 100, .taken = 60, .delivered = 20, .failed_again = 5, .skipped = 3, .changed = 2};
  EXPECT_EQ(counts.remaining(), 40);
  EXPECT_EQ(counts.in_flight(), 30);
}

TEST(OperationStep, OnlyARunningOneIsCarriedOut) {
  OperationProgress progress = running(5);
  for (const auto state : {OperationState::planned, OperationState::paused, OperationState::stopped,
                           OperationState::cancelled, OperationState::finished}) {
    progress.state = state;
    EXPECT_EQ(next_step(progress, kNow).what, What::wait) << name(state);
  }
  progress.state = OperationState::running;
  EXPECT_EQ(next_step(progress, kNow).what, What::act);
}

TEST(OperationStep, FinishesWhenEveryEventHasItsOutcome) {
  OperationProgress progress = running(5);
  progress.counts = {.total = 5, .taken = 5, .delivered = 2, .failed_again = 1, .skipped = 1, .changed = 0};
  EXPECT_EQ(next_step(progress, kNow).what, What::wait);
  progress.counts.delivered = 3;
  EXPECT_EQ(next_step(progress, kNow).what, What::finish);
}

TEST(OperationStep, AnEmptySetIsFinishedAtOnce) { EXPECT_EQ(next_step(running(0), kNow).what, What::finish); }

TEST(OperationStep, NeverMoreInFlightThanTheWindow) {
  OperationProgress progress = running(100'000);
  EXPECT_EQ(next_step(progress, kNow).limit, kOperationWindow);
  progress.counts.taken = kOperationWindow;
  EXPECT_EQ(next_step(progress, kNow).what, What::wait);
  progress.counts.delivered = 7;
  EXPECT_EQ(next_step(progress, kNow).limit, 7);
}

TEST(OperationCanary, GoesFirstAndAlone) {
  OperationProgress progress = canary_out(0, 0);
  progress.counts.taken = 0;
  EXPECT_EQ(next_step(progress, kNow).limit, 10);
  progress.counts.taken = 4;
  EXPECT_EQ(next_step(progress, kNow).limit, 6);
  EXPECT_EQ(next_step(canary_out(9, 0), kNow).what, What::wait);
}

TEST(OperationCanary, WhenItWentWellTheRestFollows) {
  const OperationStep step = next_step(canary_out(8, 2), kNow);
  EXPECT_EQ(step.what, What::act);
  EXPECT_EQ(step.limit, kOperationWindow);
}

TEST(OperationCanary, WhenItFailsTheRestStays) {
  const OperationStep step = next_step(canary_out(7, 3), kNow);
  EXPECT_EQ(step.what, What::stop);
  EXPECT_EQ(step.why, "canary: 3 of 10 failed again");
}

TEST(OperationCanary, OfOneIsJudgedByOne) {
  OperationProgress progress = running(100);
  progress.settings.canary = 1;
  progress.counts.taken = 1;
  progress.counts.failed_again = 1;
  EXPECT_EQ(next_step(progress, kNow).what, What::stop);
}

TEST(OperationCanary, SkippedEventsAreNoCanary) {
  OperationProgress progress = canary_out(7, 0);
  progress.counts.skipped = 3;
  const OperationStep step = next_step(progress, kNow);
  EXPECT_EQ(step.what, What::act);
  EXPECT_EQ(step.limit, 3);
}

TEST(OperationCanary, LargerThanTheSetIsTheSet) {
  OperationProgress progress = running(4);
  progress.settings.canary = 10;
  EXPECT_EQ(next_step(progress, kNow).limit, 4);
  progress.counts.taken = 4;
  progress.counts.failed_again = 4;
  EXPECT_EQ(next_step(progress, kNow).what, What::finish);
}

TEST(OperationStop, NotBeforeTheSample) {
  OperationProgress progress = running(100);
  progress.counts.taken = 50;
  progress.counts.failed_again = kOperationSample - 1;
  EXPECT_EQ(next_step(progress, kNow).what, What::act);
  progress.counts.failed_again = kOperationSample;
  const OperationStep step = next_step(progress, kNow);
  EXPECT_EQ(step.what, What::stop);
  EXPECT_EQ(step.why, "10 of 10 failed again");
}

TEST(OperationStop, OnlyWhenMoreThanTheShareFailsAgain) {
  OperationProgress progress = running(1000);
  progress.settings.stop_percent = 25;
  progress.counts = {.total = 1000, .taken = 500, .delivered = 75, .failed_again = 25, .skipped = 0, .changed = 0};
  EXPECT_EQ(next_step(progress, kNow).what, What::act);
  progress.counts.failed_again = 26;
  EXPECT_EQ(next_step(progress, kNow).what, What::stop);
  progress.settings.stop_percent = 100;
  EXPECT_EQ(next_step(progress, kNow).what, What::act);
}

TEST(OperationStop, AtZeroPercentTheFirstOfASampleStops) {
  OperationProgress progress = running(1000);
  progress.settings.stop_percent = 0;
  progress.counts.taken = 20;
  progress.counts.delivered = 9;
  progress.counts.failed_again = 1;
  EXPECT_EQ(next_step(progress, kNow).what, What::stop);
}

TEST(OperationRate, NoneMeansAtOnce) {
  const OperationStep step = next_step(running(10), kNow);
  EXPECT_EQ(step.what, What::act);
  EXPECT_GE(step.limit, 10);
  EXPECT_EQ(step.paced_at, kNow);
}

TEST(OperationRate, OnePerSecond) {
  OperationProgress progress = running(10);
  progress.settings.rate = 1;
  const OperationStep first = next_step(progress, kNow);
  EXPECT_EQ(first.limit, 1);
  progress.paced_at = first.paced_at;
  const OperationStep early = next_step(progress, kNow + 400ms);
  EXPECT_EQ(early.what, What::wait);
  EXPECT_EQ(early.wait_for, 600ms);
  EXPECT_EQ(next_step(progress, kNow + 1s).limit, 1);
}

TEST(OperationRate, IsKeptOverTime) {
  OperationProgress progress = running(100'000);
  for (const int rate : {1, 3, 7, 50, 333}) {
    progress.settings.rate = rate;
    // The second before the start counts too.
    EXPECT_NEAR(static_cast<double>(taken_within(progress, 30s)), 31.0 * rate, 1.0 + rate * 0.01) << rate;
  }
}

TEST(OperationRate, NoBurstAfterAPause) {
  OperationProgress progress = running(10'000);
  progress.settings.rate = 50;
  progress.paced_at = kNow - 1h;
  EXPECT_EQ(next_step(progress, kNow).limit, 50);
}

TEST(OperationRate, AClockThatWasSetBackDoesNotHoldItUp) {
  OperationProgress progress = running(10'000);
  progress.settings.rate = 50;
  progress.paced_at = kNow + 1h;
  const OperationStep step = next_step(progress, kNow);
  EXPECT_EQ(step.what, What::wait);
  EXPECT_LE(step.wait_for, 20ms);
}

TEST(OperationRate, HoldsForTheCanaryToo) {
  OperationProgress progress = canary_out(0, 0);
  progress.counts.taken = 0;
  progress.settings.rate = 4;
  EXPECT_EQ(next_step(progress, kNow).limit, 4);
}

TEST(OperationPhase, TheCanaryLastsUntilItsOutcomesAreKnown) {
  OperationProgress progress;
  progress.settings.canary = 5;
  progress.counts.total = 20;
  EXPECT_EQ(phase_of(progress), std::nullopt) << "planned";
  progress.state = OperationState::running;
  EXPECT_EQ(phase_of(progress), OperationPhase::canary);
  progress.counts.taken = 6;
  progress.counts.skipped = 1;
  progress.counts.delivered = 4;
  EXPECT_EQ(phase_of(progress), OperationPhase::canary) << "one is in flight";
  progress.counts.delivered = 5;
  EXPECT_EQ(phase_of(progress), OperationPhase::rest);
  progress.state = OperationState::paused;
  EXPECT_EQ(phase_of(progress), OperationPhase::rest);
  progress.counts.taken = 20;
  EXPECT_EQ(phase_of(progress), OperationPhase::settling);
  progress.state = OperationState::finished;
  EXPECT_EQ(phase_of(progress), std::nullopt);
}

TEST(OperationPhase, WithoutACanaryItIsTheRestAtOnce) {
  OperationProgress progress;
  progress.state = OperationState::running;
  progress.counts.total = 3;
  EXPECT_EQ(phase_of(progress), OperationPhase::rest);
}

}  // namespace
}  // namespace sluice
