#include "runtime/patrol.hpp"

#include <gmock/gmock.h>

#include <deque>

#include "runtime/supervisor.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using store::PatrolStep;
using store::StrandedCause;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

PatrolPace a_pace(Duration took) { return {.took = took, .round_began = 1s}; }

TEST(PatrolRest, IsFiftyTimesTheWork) {
  EXPECT_EQ(patrol_rest(a_pace(40ms), {}), 2s);
  EXPECT_EQ(patrol_rest(a_pace(10s), {}), 500s) << "longer than the interval when a step is that slow";
}

TEST(PatrolRest, BoundsTheRateOfReading) {
  EXPECT_EQ(patrol_rest(a_pace(1us), {}), 500ms) << "5000 rows";
  EXPECT_EQ(patrol_rest(a_pace(1us), {.rows = 100}), 10ms);
}

TEST(PatrolRest, AShortBeatIsKept) { EXPECT_EQ(patrol_rest(a_pace(1us), {.interval = 20ms}), 20ms); }

TEST(PatrolRest, ARoundBeginsAnIntervalAfterTheLast) {
  PatrolPace pace = a_pace(40ms);
  pace.round_over = true;
  pace.round_began = 1min;
  EXPECT_EQ(patrol_rest(pace, {}), 2min);
  pace.round_began = 1h;
  EXPECT_EQ(patrol_rest(pace, {}), 2s) << "one that takes longer begins again at its own pace";
}

TEST(PatrolRest, AStepThatComesEarlyRestsNoLongerThanAnInterval) {
  PatrolPace pace = a_pace(0s);
  pace.round_over = true;
  pace.round_began = -1min;
  EXPECT_EQ(patrol_rest(pace, {}), 3min);
}

TEST(PatrolRest, WhoDoesNotPatrolAsksOnceAnInterval) {
  PatrolPace pace = a_pace(40ms);
  pace.held = false;
  EXPECT_EQ(patrol_rest(pace, {}), 3min);
}

/// Answers as it is told, then that a round is over; a step takes as long as it is told.
class ScriptedPatrolling final : public store::Maintaining {
 public:
  static Error not_scripted() { return {ErrorCode::internal, Retry::never, "not scripted", "", ""}; }
  Result<void> record_ladder(const LadderSample&) override { return not_scripted(); }
  Result<void> record_history(std::span<const HistoryRow>) override { return not_scripted(); }
  Result<std::vector<store::ExpiredClaim>> expired_claims(int) override { return not_scripted(); }
  Result<std::vector<store::ExpiredClaim>> claims_held_by(const std::string&, int) override { return not_scripted(); }
  Result<store::RetentionReport> sweep_retention(const RetentionPolicies&, int, bool, const store::Actor&) override {
    return not_scripted();
  }
  Result<store::PruneReport> prune(const RetentionPolicies&) override { return not_scripted(); }
  Result<std::optional<store::PartitionChange>> keep_partitions(const RetentionPolicies&, bool,
                                                                const store::Actor&) override {
    return not_scripted();
  }
  Result<PatrolStep> patrol(const store::PatrolRequest& request) override {
    requests.push_back(request);
    now += took;
    if (answers.empty()) return PatrolStep{true, true, 0, {}};
    auto answer = std::move(answers.front());
    answers.pop_front();
    return answer;
  }

  std::deque<Result<PatrolStep>> answers;
  std::vector<store::PatrolRequest> requests;
  std::chrono::steady_clock::time_point now{};
  Duration took{};
};

class PatrolTest : public testing::Test {
 protected:
  Patrol patrol() {
    options.clock = [this] { return store.now; };
    return Patrol{store, "p1", {[this](std::string_view line) { lines.emplace_back(line); }, {}}, &metrics, options};
  }
  std::uint64_t counted(StrandedCause cause) {
    return metrics.delivery.stranded.with({std::string{name(cause)}}).value();
  }

  ScriptedPatrolling store;
  PatrolOptions options;
  std::vector<std::string> lines;
  telemetry::Registry registry;
  telemetry::MetricSet metrics{registry};
};

TEST_F(PatrolTest, EachHealedEventIsCountedAndAnErrorInTheLog) {
  const Uuid one = test::new_id();
  const Uuid other = test::new_id();
  store.answers.push_back(
      PatrolStep{true, false, 10, {{one, StrandedCause::passed_over}, {other, StrandedCause::no_claim}}});
  Patrol walker = patrol();
  const auto report = walker.step();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->healed, 2U);
  EXPECT_EQ(counted(StrandedCause::passed_over), 1U);
  EXPECT_EQ(counted(StrandedCause::no_claim), 1U);
  EXPECT_EQ(counted(StrandedCause::blocker_gone), 0U);
  EXPECT_THAT(lines, ElementsAre(AllOf(HasSubstr("\"error\""), HasSubstr(one.to_string()), HasSubstr("passed_over")),
                                 AllOf(HasSubstr("\"error\""), HasSubstr(other.to_string()), HasSubstr("no_claim"))));
}

TEST_F(PatrolTest, AFloodIsCountedInFullAndLoggedInPart) {
  PatrolStep step{true, false, 5000, {}};
  for (int n = 0; n < 25; ++n) step.healed.push_back({test::new_id(), StrandedCause::blocker_gone});
  store.answers.emplace_back(step);
  Patrol walker = patrol();
  ASSERT_TRUE(walker.step());
  EXPECT_EQ(counted(StrandedCause::blocker_gone), 25U);
  ASSERT_THAT(lines, SizeIs(11));
  EXPECT_THAT(lines.back(), HasSubstr("15"));
}

TEST_F(PatrolTest, NothingIsSaidWhenAllIsWell) {
  Patrol walker = patrol();
  ASSERT_TRUE(walker.step());
  EXPECT_THAT(lines, testing::IsEmpty());
}

TEST_F(PatrolTest, TheLeaseOutlastsTheRest) {
  store.took = 20s;
  store.answers.push_back(PatrolStep{true, false, 5000, {}});
  store.answers.push_back(PatrolStep{true, false, 5000, {}});
  Patrol walker = patrol();
  const auto first = walker.step();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rest, 1000s);
  ASSERT_TRUE(walker.step());
  EXPECT_GT(store.requests.at(0).lease, options.interval);
  EXPECT_GT(store.requests.at(1).lease, first->rest) << "the steps became slow";
}

TEST_F(PatrolTest, RoundsBeginAnIntervalApart) {
  store.took = 100ms;
  store.answers.push_back(PatrolStep{true, false, 5000, {}});
  Patrol walker = patrol();
  const auto first = walker.step();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rest, 5s);
  store.now += first->rest;
  const auto second = walker.step();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rest, 3min - 5200ms);
  store.now += second->rest;
  const auto third = walker.step();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->rest, 3min - 100ms);
}

TEST_F(PatrolTest, AnErrorIsReturnedAndTheNextStepGoesOn) {
  store.answers.emplace_back(Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, {}});
  store.answers.push_back(PatrolStep{true, false, 1, {{test::new_id(), StrandedCause::no_claim}}});
  Patrol walker = patrol();
  EXPECT_FALSE(walker.step());
  const auto next = walker.step();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->healed, 1U);
}

TEST_F(PatrolTest, ItIsHandedOnOnceAndOnlyByWhoHasIt) {
  Patrol walker = patrol();
  walker.hand_on();
  EXPECT_THAT(store.requests, testing::IsEmpty());
  ASSERT_TRUE(walker.step());
  walker.hand_on();
  walker.hand_on();
  ASSERT_THAT(store.requests, SizeIs(2));
  EXPECT_EQ(store.requests.back().lease, Duration::zero());
}

/// On the embedded store, with an event that waits for a handler that is gone while another wants it.
class PatrolOnAStore : public testing::Test {
 protected:
  PatrolOnAStore() { options.overlooked_after = 1min; }

  Uuid strand_one() {
    const Subscription all{.handler_name = "sluice.log"};
    if (!store->subscribe(1, std::span{&all, 1})) throw std::runtime_error("cannot subscribe");
    const Uuid id = store.publish(test::events(1)).front();
    store::ClaimRequest request;
    request.worker = "w0";
    const auto claimed = store->claim(request);
    if (!claimed || claimed->size() != 1) throw std::runtime_error("cannot claim");
    store::SettleItem item;
    item.claim = claimed->front().claim;
    item.settlement = settle(0, Outcome::released(), {}, 0.5);
    item.settlement.progress = {{.handler_name = "gone.handler", .due = clock.now()}};
    if (!store->settle(std::span{&item, 1})) throw std::runtime_error("cannot settle");
    clock.advance(2min);
    return id;
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  PatrolOptions options;
};

TEST_F(PatrolOnAStore, AFailedStepLosesNothing) {
  strand_one();
  test::FaultyStore faulty{*store};
  Patrol walker{faulty, "p1", {}, nullptr, options};
  faulty.fail_call(1, test::Fault::before);
  EXPECT_FALSE(walker.step());
  const auto report = walker.step();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->healed, 1U);
}

TEST_F(PatrolOnAStore, AnAnswerThatWasLostLeavesTheEventHealed) {
  const Uuid id = strand_one();
  test::FaultyStore faulty{*store};
  Patrol walker{faulty, "p1", {}, nullptr, options};
  faulty.fail_call(1, test::Fault::after);
  EXPECT_FALSE(walker.step());
  const auto report = walker.step();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->healed, 0U);
  EXPECT_TRUE(store.event(id).progress.empty());
  const auto seen = store->diagnose(store::DiagnosisDepth::whole);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->stranded->causes.size(), 1U) << "the store remembers what nobody heard";
}

TEST_F(PatrolOnAStore, OneAtATimeAndTheNextWhenItIsHandedOn) {
  Patrol one{*store, "p1", {}, nullptr, options};
  Patrol other{*store, "p2", {}, nullptr, options};
  ASSERT_TRUE(one.step());
  const Uuid id = strand_one();
  const auto refused = other.step();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->healed, 0U);
  EXPECT_EQ(refused->rest, options.interval);
  EXPECT_FALSE(store.event(id).progress.empty());
  one.hand_on();
  EXPECT_TRUE(store.event(id).progress.empty()) << "handing it on is a step like any other";
  ASSERT_TRUE(other.step());
  const auto first = store->patrol({.holder = "p1"});
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->held) << "the other one patrols now";
}

TEST_F(PatrolOnAStore, ADeadHoldersLeaseRunsOut) {
  Patrol one{*store, "p1", {}, nullptr, options};
  Patrol other{*store, "p2", {}, nullptr, options};
  ASSERT_TRUE(one.step());
  clock.advance(2 * options.interval + 11s);
  strand_one();
  const auto taken = other.step();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->healed, 1U);
}

TEST_F(PatrolOnAStore, ASupervisorDeliversWhatItsPatrolHeals) {
  const Uuid id = strand_one();
  ScriptedHandler handler;
  SupervisorOptions process;
  process.worker = worker_options();
  process.patrol.interval = 10ms;
  auto supervisor = Supervisor::start(*store, handler.handlers(), {}, process);
  ASSERT_TRUE(supervisor) << supervisor.error().message;
  handler.await(1);
  (*supervisor)->request_stop();
  (*supervisor)->join();
  EXPECT_THAT(handler.delivered(), ElementsAre(id));
}

TEST_F(PatrolOnAStore, ASupervisorThatStopsHandsItOn) {
  ScriptedHandler handler;
  SupervisorOptions process;
  process.worker = worker_options();
  {
    auto supervisor = Supervisor::start(*store, handler.handlers(), {}, process);
    ASSERT_TRUE(supervisor) << supervisor.error().message;
    store.publish(test::events(1));
    (*supervisor)->wake();
    handler.await(1);
  }
  Patrol next{*store, "p2", {}, nullptr, options};
  strand_one();
  const auto taken = next.step();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->healed, 1U);
}

TEST(PatrolOptions, RefusesABeatOfNothing) {
  PatrolOptions options;
  options.interval = Duration::zero();
  const auto checked = options.validate();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().field, "patrol.interval");
}

}  // namespace
}  // namespace sluice::runtime
