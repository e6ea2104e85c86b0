#include "core/decide.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow{std::chrono::seconds{1'750'000'000}};

RetryPolicy policy() {
  RetryPolicy plain;
  plain.jitter = Jitter::none;
  return plain;
}
struct Run {
  std::string handler_name;
  Outcome outcome;
};
Run handled(const std::string& name) { return {name, Outcome::handled()}; }
Run failed(const std::string& name) {
  return {name, Outcome::failed({"TimeoutError", "no answer from " + name, {}, false})};
}
Run refused(const std::string& name) { return {name, Outcome::failed({"TerminalError", "never", {}, true})}; }

struct Attempt {
  int attempts = 0;
  std::vector<HandlerProgress> progress;
  std::vector<std::string> open;
  std::vector<Run> runs;
  HandlerNames served;
  HandlerNames hosted;
};
// What the decision refers to is gone with the attempt.
struct Decided {
  Settlement settlement;
  std::vector<std::string> handled_by;
};
Decided decide(const Attempt& made) {
  static const RetryPolicy kPolicy = policy();
  const std::vector<std::string_view> open{made.open.begin(), made.open.end()};
  std::vector<HandlerRun> runs;
  for (const Run& run : made.runs) runs.push_back({run.handler_name, run.outcome, kPolicy, 0.5});
  Decision decision = decide(EventAttempt{made.attempts, made.progress, open, runs, made.served, made.hosted, kNow});
  return {std::move(decision.settlement), {decision.handled_by.begin(), decision.handled_by.end()}};
}

// Handlers a.* are hosted here; all are served by somebody.
Attempt attempt(std::vector<std::string> open, std::vector<Run> runs) {
  Attempt made;
  for (const std::string& name : open) {
    made.served.insert(name);
    if (name.starts_with("a.")) made.hosted.insert(name);
  }
  made.open = std::move(open);
  made.runs = std::move(runs);
  return made;
}

const HandlerProgress& of(const Decided& decision, std::string_view handler) {
  for (const auto& one : decision.settlement.progress) {
    if (one.handler_name == handler) return one;
  }
  throw std::runtime_error("no progress of " + std::string{handler});
}

TEST(Decide, DeliveredWhenTheOnlyHandlerHasHandledIt) {
  const Decided decision = decide(attempt({"a.one"}, {handled("a.one")}));
  EXPECT_EQ(decision.settlement.next, Status::delivered);
  EXPECT_EQ(decision.handled_by, std::vector<std::string>{"a.one"});
}

TEST(Decide, TheOnlyHandlerFailsAsSettleSays) {
  Attempt fifth = attempt({"a.one"}, {failed("a.one")});
  fifth.attempts = 4;
  const Decided decision = decide(fifth);
  EXPECT_EQ(decision.settlement.next, Status::failed);
  EXPECT_TRUE(decision.settlement.counts_attempt);
  EXPECT_TRUE(decision.settlement.progress.empty());
}

TEST(Decide, NothingLeftIsDelivered) { EXPECT_EQ(decide(attempt({}, {})).settlement.next, Status::delivered); }

HandlerProgress set_aside(const std::string& name, int attempts) {
  HandlerProgress one;
  one.handler_name = name;
  one.attempts = attempts;
  one.out_of_attempts = true;
  one.aside = true;
  if (attempts > 0) one.last_error = "TimeoutError: no answer from " + name;
  return one;
}
HandlerProgress meant(const std::string& name) {
  HandlerProgress one;
  one.handler_name = name;
  one.due = kNow;
  return one;
}

TEST(DecideAside, AReplayToOneHandlerLeavesTheOtherFailed) {
  Attempt made = attempt({"a.one", "b.one"}, {handled("a.one")});
  made.progress = {meant("a.one"), set_aside("b.one", 5)};
  const Decided decision = decide(made);
  EXPECT_EQ(decision.settlement.next, Status::failed);
  EXPECT_EQ(decision.settlement.last_error, "TimeoutError: no answer from b.one");
  EXPECT_FALSE(decision.settlement.counts_attempt) << "nothing failed now";
  EXPECT_EQ(decision.handled_by, std::vector<std::string>{"a.one"});
}

TEST(DecideAside, WhoNeverFailedDoesNotKeepItFromBeingDelivered) {
  Attempt made = attempt({"a.one", "b.new"}, {handled("a.one")});
  made.progress = {meant("a.one"), set_aside("b.new", 0)};
  EXPECT_EQ(decide(made).settlement.next, Status::delivered);
}

TEST(DecideAside, TheOneThatIsMeantHasAllItsAttempts) {
  Attempt made = attempt({"a.one", "b.one"}, {failed("a.one")});
  made.progress = {meant("a.one"), set_aside("b.one", 5)};
  const Decided decision = decide(made);
  EXPECT_EQ(decision.settlement.next, Status::pending);
  EXPECT_TRUE(decision.settlement.counts_attempt);
  EXPECT_EQ(of(decision, "a.one").attempts, 1);
  EXPECT_TRUE(of(decision, "b.one").aside);
}

TEST(DecideAside, ItsOwnFailureIsTheOneThatIsTold) {
  Attempt made = attempt({"b.one", "a.one"}, {refused("a.one")});
  made.progress = {set_aside("b.one", 5), meant("a.one")};
  const Decided decision = decide(made);
  EXPECT_EQ(decision.settlement.next, Status::failed);
  EXPECT_EQ(decision.settlement.error_class, "TerminalError");
}

TEST(DecideAside, AnExpiredClaimDoesNotFailForIt) {
  const std::vector<HandlerProgress> progress{meant("a.one"), set_aside("b.one", 5)};
  const HandlerNames names{"a.one", "b.one"};
  ExpiredAttempt expired{.progress = progress, .hosted = names, .served = names, .claimed_at = kNow, .now = kNow};
  const Settlement settlement = expire(expired, policy(), [](const std::string&) { return policy(); });
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_TRUE(settlement.counts_attempt);
}

TEST(Decide, ARetryRunsOnlyWhatHasNotHandledIt) {
  const Decided decision = decide(attempt({"a.one", "a.two"}, {handled("a.one"), failed("a.two")}));
  EXPECT_EQ(decision.settlement.next, Status::pending);
  EXPECT_EQ(decision.settlement.cause, Cause::retry);
  EXPECT_EQ(decision.handled_by, std::vector<std::string>{"a.one"});
  ASSERT_EQ(decision.settlement.progress.size(), 1U);
  EXPECT_EQ(of(decision, "a.two").attempts, 1);
  EXPECT_EQ(of(decision, "a.two").due, kNow + 1s);
  EXPECT_EQ(decision.settlement.not_before, kNow + 1s);
  EXPECT_EQ(decision.settlement.last_error, "TimeoutError: no answer from a.two");
  EXPECT_TRUE(decision.settlement.counts_attempt);
  EXPECT_EQ(decision.settlement.lane, "") << "it is hosted here";
}

TEST(Decide, AnEventGoesOnToTheHandlersOfOtherProcessesAtOnce) {
  const Decided decision = decide(attempt({"a.one", "b.one", "b.two"}, {handled("a.one")}));
  EXPECT_EQ(decision.settlement.next, Status::pending);
  EXPECT_EQ(decision.settlement.cause, Cause::release);
  EXPECT_FALSE(decision.settlement.counts_attempt);
  EXPECT_FALSE(decision.settlement.records_error);
  EXPECT_EQ(decision.settlement.not_before, kNow);
  EXPECT_EQ(decision.settlement.lane, "b");
}

TEST(Decide, TwoScopesLeftMeansThatAnybodyLooks) {
  EXPECT_EQ(decide(attempt({"a.one", "b.one", "c.one"}, {handled("a.one")})).settlement.lane, "");
}

TEST(Decide, AFailureHereDoesNotDelayTheOthers) {
  const Decided decision = decide(attempt({"a.one", "b.one"}, {failed("a.one")}));
  EXPECT_EQ(decision.settlement.not_before, kNow) << "b.one is due now";
  EXPECT_EQ(of(decision, "a.one").due, kNow + 1s);
  EXPECT_EQ(of(decision, "b.one").attempts, 0);
}

TEST(Decide, EachHandlerHasItsOwnAttempts) {
  Attempt second = attempt({"a.one", "a.two"}, {failed("a.one"), failed("a.two")});
  second.attempts = 3;
  second.progress = {{"a.one", 3, kNow, false, "x", "x", "x"}, {"a.two", 1, kNow, false, "x", "x", "x"}};
  const Decided decision = decide(second);
  EXPECT_EQ(of(decision, "a.one").attempts, 4);
  EXPECT_EQ(of(decision, "a.two").attempts, 2);
  EXPECT_TRUE(decision.settlement.counts_attempt) << "the row shows the most tried: 4";
  EXPECT_EQ(decision.settlement.not_before, kNow + 2s);

  second.runs = {failed("a.two")};
  EXPECT_FALSE(decide(second).settlement.counts_attempt) << "still 3";
  EXPECT_TRUE(decide(second).settlement.records_error);
}

TEST(Decide, ExhaustedFailsTheEventWhenTheOthersHadTheirChance) {
  Attempt fifth = attempt({"a.one", "a.two"}, {failed("a.one"), failed("a.two")});
  fifth.attempts = 4;
  fifth.progress = {{"a.one", 4, kNow, false, "x", "x", "x"}, {"a.two", 1, kNow, false, "x", "x", "x"}};
  const Decided decision = decide(fifth);
  EXPECT_EQ(decision.settlement.next, Status::failed);
  EXPECT_EQ(decision.settlement.last_error, "TimeoutError: no answer from a.one") << "the one that is out of attempts";
  EXPECT_EQ(decision.settlement.progress.size(), 2U);
}

TEST(Decide, ATerminalFailureWaitsForAnotherContextsFirstTry) {
  const Decided decision = decide(attempt({"a.one", "b.one"}, {refused("a.one")}));
  EXPECT_EQ(decision.settlement.next, Status::pending);
  EXPECT_TRUE(of(decision, "a.one").out_of_attempts);
  EXPECT_EQ(decision.settlement.lane, "b");

  // Context b handles it: now the event fails, with the error of a.one.
  Attempt there = attempt({"a.one", "b.one"}, {handled("b.one")});
  there.attempts = 1;
  there.progress = decision.settlement.progress;
  there.hosted = {"b.one"};
  const Decided then = decide(there);
  EXPECT_EQ(then.settlement.next, Status::failed);
  EXPECT_EQ(then.settlement.last_error, "TerminalError: never");
  EXPECT_EQ(then.handled_by, std::vector<std::string>{"b.one"});
  EXPECT_FALSE(then.settlement.counts_attempt);
}

TEST(Decide, ATerminalFailureDoesNotWaitForAContextWithoutWorkers) {
  Attempt alone = attempt({"a.one", "b.one"}, {refused("a.one")});
  alone.served = {"a.one"};
  EXPECT_EQ(decide(alone).settlement.next, Status::failed);
}

TEST(Decide, DeferringCountsNothing) {
  const Decided decision =
      decide(attempt({"a.one", "a.two"}, {{"a.one", Outcome::deferred(kNow + 1h)}, handled("a.two")}));
  EXPECT_EQ(decision.settlement.next, Status::pending);
  EXPECT_FALSE(decision.settlement.counts_attempt);
  EXPECT_EQ(decision.settlement.not_before, kNow + 1h);
}

TEST(Decide, AHandlerThatWasAloneKeepsItsCountWhenASecondSubscribes) {
  Attempt third = attempt({"a.one", "b.one"}, {failed("a.one")});
  third.attempts = 2;
  const Decided decision = decide(third);
  EXPECT_EQ(of(decision, "a.one").attempts, 3);
  EXPECT_EQ(of(decision, "b.one").attempts, 0);
}

HandlerProgress progress_of(const std::string& name, int attempts, const std::string& error = {}) {
  HandlerProgress one;
  one.handler_name = name;
  one.attempts = attempts;
  one.due = kNow - 10min;
  if (!error.empty()) {
    one.last_error = "TimeoutError: " + error;
    one.error_class = "TimeoutError";
    one.fingerprint = "f-" + name;
  }
  return one;
}

struct Expired {
  int attempts = 0;
  std::vector<HandlerProgress> progress;
  std::string last_error;
  std::string error_class;
  std::string fingerprint;
  std::vector<std::string> wanted;
  HandlerNames hosted;
  HandlerNames served;
  int most_attempts = 5;
};
Settlement expire(const Expired& made) {
  RetryPolicy most = policy();
  most.max_attempts = made.most_attempts;
  return expire(ExpiredAttempt{made.attempts, made.progress, made.last_error, made.error_class, made.fingerprint,
                               made.wanted, made.hosted, made.served, kNow - 5min, kNow, 0.5},
                most, [&](const std::string&) { return most; });
}

TEST(Expire, AnEventThatNeverFailedTellsOfTheExpiry) {
  const Settlement settlement = expire(Expired{});
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_EQ(settlement.cause, Cause::expire);
  EXPECT_TRUE(settlement.counts_attempt);
  EXPECT_EQ(settlement.last_error, "ClaimExpired: claim expired");
  EXPECT_EQ(settlement.error_class, "ClaimExpired");
}

TEST(Expire, TheErrorOfAnEarlierFailureStaysAndTheExpiryIsAddedOnce) {
  Expired made;
  made.attempts = 1;
  made.last_error = "TimeoutError: no answer";
  made.error_class = "TimeoutError";
  made.fingerprint = "f1";
  for (int expiry = 0; expiry < 2; ++expiry) {
    const Settlement settlement = expire(made);
    EXPECT_EQ(settlement.last_error, "TimeoutError: no answer; then the claim expired");
    EXPECT_EQ(settlement.error_class, "TimeoutError");
    EXPECT_EQ(settlement.fingerprint, "f1");
    made.last_error = settlement.last_error;
  }
  made.last_error = "TimeoutError: " + std::string(kLastErrorMaxBytes, 'x');
  EXPECT_EQ(expire(made).last_error.size(), kLastErrorMaxBytes);
}

TEST(Expire, AttemptsNeverPassTheMaximum) {
  Expired made;
  made.attempts = 5;
  EXPECT_EQ(expire(made).next, Status::failed);
  EXPECT_FALSE(expire(made).counts_attempt);
  made.attempts = 4;
  EXPECT_EQ(expire(made).next, Status::failed);
  EXPECT_TRUE(expire(made).counts_attempt);
}

TEST(Expire, AHandlerThatIsOutOfAttemptsStaysSo) {
  HandlerProgress spent = progress_of("b.spent", 5, "refused");
  spent.out_of_attempts = true;
  Expired made{.attempts = 5, .progress = {spent, progress_of("a.other", 0)}, .hosted = {"a.other"}};
  made.served = {"a.other", "a.untried"};
  made.progress.push_back(progress_of("a.untried", 0));
  const Settlement settlement = expire(made);
  EXPECT_EQ(settlement.next, Status::pending) << "one that is served has not had its first try";
  ASSERT_EQ(settlement.progress.size(), 3U);
  EXPECT_EQ(settlement.progress[0], spent);
  EXPECT_EQ(settlement.progress[1].attempts, 1);
  EXPECT_EQ(settlement.progress[1].due, kNow + 1s);
  EXPECT_EQ(settlement.progress[2], progress_of("a.untried", 0));
  EXPECT_FALSE(settlement.counts_attempt) << "the row counts the most tried handler";
}

TEST(Expire, WithAFirstTryOfEverybodyTheEventFailsWithTheErrorOfTheSpentHandler) {
  HandlerProgress spent = progress_of("b.spent", 5, "refused");
  spent.out_of_attempts = true;
  const Settlement settlement = expire(Expired{
      .attempts = 5, .progress = {spent, progress_of("a.other", 0)}, .hosted = {"a.other"}, .served = {"a.other"}});
  EXPECT_EQ(settlement.next, Status::failed);
  EXPECT_EQ(settlement.last_error, "TimeoutError: refused");
  EXPECT_EQ(settlement.progress[1].attempts, 1);
  EXPECT_FALSE(settlement.counts_attempt);
}

TEST(Expire, OnlyHandlersOfTheLostWorkerThatWereDueAreCounted) {
  HandlerProgress later = progress_of("a.later", 1, "no answer");
  later.due = kNow + 1h;
  const Expired made{.attempts = 2,
                     .progress = {progress_of("a.due", 2, "no answer"), later, progress_of("b.elsewhere", 1)},
                     .last_error = "TimeoutError: no answer",
                     .error_class = "TimeoutError",
                     .fingerprint = "f",
                     .hosted = {"a.due", "a.later"},
                     .served = {"b.elsewhere"}};
  const Settlement settlement = expire(made);
  EXPECT_EQ(settlement.progress[0].attempts, 3);
  EXPECT_EQ(settlement.progress[0].last_error, "TimeoutError: no answer; then the claim expired");
  EXPECT_EQ(settlement.progress[1], later);
  EXPECT_EQ(settlement.progress[2], progress_of("b.elsewhere", 1));
  EXPECT_TRUE(settlement.counts_attempt);
  EXPECT_EQ(settlement.not_before, kNow - 10min) << "the one elsewhere is due";
}

// A process that hosts one handler of an event dies: the other handler, which may have a single attempt, never ran.
TEST(Expire, AHandlerThatIsHostedElsewhereIsNotCounted) {
  const Expired made{.wanted = {"a.lost", "b.elsewhere"}, .hosted = {"a.lost"}, .served = {"b.elsewhere"}};
  const Settlement settlement = expire(made);
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_EQ(settlement.cause, Cause::expire);
  EXPECT_TRUE(settlement.counts_attempt);
  EXPECT_EQ(settlement.last_error, "ClaimExpired: claim expired");
  ASSERT_EQ(settlement.progress.size(), 2U);
  EXPECT_EQ(settlement.progress[0].handler_name, "a.lost");
  EXPECT_EQ(settlement.progress[0].attempts, 1);
  EXPECT_EQ(settlement.progress[0].due, kNow + 1s);
  EXPECT_EQ(settlement.progress[1].handler_name, "b.elsewhere");
  EXPECT_EQ(settlement.progress[1].attempts, 0);
  EXPECT_LE(settlement.progress[1].due, kNow) << "it need not wait for the other's retry";
}

TEST(Expire, OutOfAttemptsByExpiriesItStillWaitsForTheFirstTryElsewhere) {
  Expired made{.attempts = 4, .wanted = {"a.lost", "b.elsewhere"}, .hosted = {"a.lost"}, .served = {"b.elsewhere"}};
  const Settlement settlement = expire(made);
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_TRUE(settlement.progress.at(0).out_of_attempts);
  made.served = {};
  EXPECT_EQ(expire(made).next, Status::failed);
}

TEST(Expire, WhoHostsAllThatWantItOrNobodyKnownCountsOnTheRow) {
  EXPECT_TRUE(expire(Expired{.wanted = {"a.one", "a.two"}, .hosted = {"a.one", "a.two"}}).progress.empty());
  EXPECT_TRUE(expire(Expired{.wanted = {"a.one", "a.two"}, .hosted = {}}).progress.empty());
  EXPECT_TRUE(expire(Expired{.wanted = {"a.one"}, .hosted = {"a.one", "b.other"}}).progress.empty());
}

TEST(Expire, SomebodyIsCountedAlsoWhenNobodyFits) {
  const Settlement settlement =
      expire(Expired{.progress = {progress_of("a.one", 0)}, .hosted = {"c.unknown"}, .served = {}});
  EXPECT_EQ(settlement.progress[0].attempts, 1);
}

}  // namespace
}  // namespace sluice
