#include "runtime/reaper.hpp"

#include "runtime/supervisor.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class ReaperTest : public testing::Test {
 protected:
  ReaperTest() { options.retry.jitter = Jitter::none; }

  StepReport step(int limit = 100) {
    const auto report = Reaper{*store, *store, *store, {}, options}.step(limit);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : StepReport{};
  }

  void claim_all() {
    store::ClaimRequest request;
    request.worker = "gone:1";
    request.limit = 100;
    ASSERT_TRUE(store->claim(request));
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  ReaperOptions options{{}, [] { return 0.5; }};
};

TEST_F(ReaperTest, LeavesLiveClaimsAlone) {
  store.publish(test::events(2));
  claim_all();
  clock.advance(299s);
  EXPECT_EQ(step().claimed, 0);
}

TEST_F(ReaperTest, AnExpiredClaimIsPendingAgainAndCounted) {
  const auto ids = store.publish(test::events(2));
  claim_all();
  clock.advance(301s);
  const StepReport report = step();
  EXPECT_EQ(report.claimed, 2);
  EXPECT_EQ(report.retried, 2);
  const auto event = store.event(ids[0]);
  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.attempts, 1);
  EXPECT_EQ(event.last_error, "ClaimExpired: claim expired");
  EXPECT_EQ(event.retry_after, clock.now() + 1s);
  EXPECT_EQ(step().claimed, 0);
}

TEST_F(ReaperTest, TheFifthExpiryFails) {
  const auto ids = store.publish(test::events(1));
  for (int cycle = 1; cycle <= 4; ++cycle) {
    claim_all();
    clock.advance(301s);
    EXPECT_EQ(step().retried, 1);
    clock.advance(300s);
  }
  claim_all();
  clock.advance(301s);
  EXPECT_EQ(step().failed, 1);
  EXPECT_EQ(store.event(ids[0]).status, Status::failed);
}

TEST_F(ReaperTest, TheLimitBoundsAStep) {
  store.publish(test::events(5));
  claim_all();
  clock.advance(301s);
  EXPECT_EQ(step(3).claimed, 3);
  EXPECT_EQ(step(3).claimed, 2);
}

TEST_F(ReaperTest, TwoReapersCountAnAttemptOnce) {
  const auto ids = store.publish(test::events(1));
  claim_all();
  clock.advance(301s);
  // The second reaper works between the first one's look and its settle.
  class Between final : public store::Maintaining {
   public:
    Between(store::Maintaining& inner, std::function<void()> then) : inner_(inner), then_(std::move(then)) {}
    Result<void> record_ladder(const LadderSample& sample) override { return inner_.record_ladder(sample); }
    Result<void> record_history(std::span<const HistoryRow> rows) override { return inner_.record_history(rows); }
    Result<std::vector<store::ExpiredClaim>> expired_claims(int limit) override {
      auto found = inner_.expired_claims(limit);
      then_();
      return found;
    }
    Result<std::vector<store::ExpiredClaim>> claims_held_by(const std::string& identity, int limit) override {
      return inner_.claims_held_by(identity, limit);
    }
    using Maintaining::sweep_retention;
    Result<store::RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                   const store::Actor& actor) override {
      return inner_.sweep_retention(policies, limit, dry_run, actor);
    }
    Result<store::PruneReport> prune(const RetentionPolicies& policies) override { return inner_.prune(policies); }
    Result<std::optional<store::PartitionChange>> keep_partitions(const RetentionPolicies& policies, bool dry_run,
                                                                  const store::Actor& actor) override {
      return inner_.keep_partitions(policies, dry_run, actor);
    }
    Result<store::PatrolStep> patrol(const store::PatrolRequest& request) override { return inner_.patrol(request); }

   private:
    store::Maintaining& inner_;
    std::function<void()> then_;
  };
  Between between{*store, [&] { EXPECT_EQ(step().retried, 1); }};
  const auto report = Reaper{between, *store, *store, {}, options}.step(100);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->fenced, 1);
  EXPECT_EQ(report->retried, 0);
  EXPECT_EQ(store.event(ids[0]).attempts, 1);
}

// Its process hosts a more patient handler as well, in a pool whose workers did not hold the event.
TEST_F(ReaperTest, AnExpiryIsCountedAgainstTheHandlersOfThePoolThatHeldTheClaim) {
  store.publish(test::events(1));
  ASSERT_TRUE(store->announce({"other:1", kFirstGeneration, {"billing.meter", "worlds.indexer"}, "", {}, {}}));
  store::ClaimRequest request;
  request.worker = "other:1/worlds/0";
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  options.pool_of = [](const std::string& name) { return std::optional<std::string>{scope_of(name)}; };
  options.retry_of = [](const std::string& name) {
    RetryPolicy policy = without_jitter();
    policy.max_attempts = name == "worlds.indexer" ? 1 : 10;
    return std::optional{policy};
  };
  EXPECT_EQ(step().failed, 1);
}

TEST_F(ReaperTest, AnErrorOfTheStoreIsReturned) {
  store.publish(test::events(1));
  claim_all();
  clock.advance(301s);
  test::FaultyStore faulty{*store};
  Reaper reaper{faulty, faulty, faulty, {}, options};
  faulty.fail_call(1, test::Fault::before);
  EXPECT_FALSE(reaper.step(100));
  faulty.fail_call(2, test::Fault::before);
  EXPECT_FALSE(reaper.step(100));
  const auto report = reaper.step(100);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->retried, 1);
}

// One handler has failed for good; the other one's worker dies. A later worker runs only what is left.
TEST_F(ReaperTest, AHandlerThatFailedForGoodIsNotRunAgainAfterAnExpiry) {
  ScriptedHandler refusing{always(Verdict::failed("TerminalError", "never"))};
  refusing.name = "billing.meter";
  refusing.retry.terminal_errors = {"TerminalError"};
  ScriptedHandler indexing{always(a_timeout())};
  indexing.name = "worlds.indexer";
  WorkerOptions elsewhere = worker_options();
  elsewhere.identity = "other:1";
  TestWorker second{*store, indexing.handlers(), {}, elsewhere};
  TestWorker first{*store, refusing.handlers()};
  const auto ids = store.publish(test::events(1));
  ASSERT_TRUE(first.step());
  ASSERT_EQ(refusing.delivered().size(), 1U);
  clock.advance(10s);

  store::ClaimRequest request;
  request.worker = "other:1/0";
  request.handlers = {"worlds.indexer"};
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  options.retry_of = [](const std::string&) { return without_jitter(); };
  options.alive_within = 1h;
  const StepReport report = step();
  EXPECT_EQ(report.failed, 1) << "each has had its try";
  const auto event = store.event(ids[0]);
  EXPECT_EQ(event.status, Status::failed);
  EXPECT_EQ(event.attempts, 1);
  EXPECT_EQ(event.last_error, "TerminalError: never");
  ASSERT_EQ(event.progress.size(), 2U);

  ASSERT_TRUE(store->replay(ids[0], 1, {"alice", "cli", "again"}));
  EXPECT_EQ(store.event(ids[0]).attempts, 0);
}

TEST_F(ReaperTest, WhatIsKnownStaysWhileOthersHaveAttemptsLeft) {
  ScriptedHandler failing{always(a_timeout())};
  failing.name = "billing.meter";
  ScriptedHandler untried;
  untried.name = "worlds.indexer";
  WorkerOptions elsewhere = worker_options();
  elsewhere.identity = "other:1";
  TestWorker second{*store, untried.handlers(), {}, elsewhere};
  TestWorker first{*store, failing.handlers()};
  const auto ids = store.publish(test::events(1));
  ASSERT_TRUE(first.step());
  clock.advance(10s);
  store::ClaimRequest request;
  request.worker = "test:1/0";
  request.handlers = {"billing.meter"};
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  EXPECT_EQ(step().retried, 1);
  const auto event = store.event(ids[0]);
  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.attempts, 2);
  EXPECT_EQ(event.last_error, "TimeoutError: no answer; then the claim expired");
  ASSERT_EQ(event.progress.size(), 2U);
  EXPECT_EQ(event.progress[0].handler_name, "billing.meter");
  EXPECT_EQ(event.progress[0].attempts, 2);
  EXPECT_EQ(event.progress[1].attempts, 0) << "it was not in the hands of the worker that died";
}

// The other handler has a single attempt and is hosted by a process that lives: it runs, and the event is delivered.
TEST_F(ReaperTest, AHandlerOfAnotherProcessLosesNoAttemptToAWorkerThatDied) {
  ScriptedHandler lost;
  lost.name = "billing.meter";
  ScriptedHandler alive;
  alive.name = "worlds.indexer";
  alive.retry.max_attempts = 1;
  WorkerOptions elsewhere = worker_options();
  elsewhere.identity = "other:1";
  TestWorker second{*store, alive.handlers(), {}, elsewhere};
  TestWorker first{*store, lost.handlers()};
  const auto ids = store.publish(test::events(1));
  store::ClaimRequest request;
  request.worker = "test:1/0";
  request.handlers = {"billing.meter"};
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  EXPECT_EQ(step().retried, 1);
  ASSERT_TRUE(second.step());
  EXPECT_EQ(alive.delivered().size(), 1U);
  clock.advance(10s);
  ASSERT_TRUE(first.step());
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
}

// Of several handlers in a lost worker only those that want the event can have run.
TEST_F(ReaperTest, AnExpiryIsNotCountedAgainstAHandlerThatDoesNotWantTheEvent) {
  const std::vector<Subscription> both{{"billing.meter", {"bill.*"}, {}, {}}, {"worlds.indexer", {"scan.*"}, {}, {}}};
  ASSERT_TRUE(store->subscribe(1, both));
  ASSERT_TRUE(store->announce({"other:1", kFirstGeneration, {"billing.meter"}, "", {}, {}}));
  const auto ids = store.publish({test::an_event("bill.sent")});
  store::ClaimRequest request;
  request.worker = "other:1";
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  EXPECT_EQ(step().retried, 1);
  EXPECT_TRUE(store.event(ids[0]).progress.empty()) << "one handler wants it: the row counts";
}

// The more patient handler beside it in the lost worker does not want the event, so its maximum does not count.
TEST_F(ReaperTest, TheMaximumIsThatOfTheHandlersThatWantTheEvent) {
  const std::vector<Subscription> both{{"billing.meter", {"bill.*"}, {}, {}}, {"worlds.indexer", {"scan.*"}, {}, {}}};
  ASSERT_TRUE(store->subscribe(1, both));
  ASSERT_TRUE(store->announce({"other:1", kFirstGeneration, {"billing.meter", "worlds.indexer"}, "", {}, {}}));
  const auto ids = store.publish({test::an_event("bill.sent")});
  store::ClaimRequest request;
  request.worker = "other:1";
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  options.retry_of = [](const std::string& name) {
    RetryPolicy policy = without_jitter();
    policy.max_attempts = name == "billing.meter" ? 1 : 10;
    return std::optional{policy};
  };
  EXPECT_EQ(step().failed, 1);
  const auto kept = store->attempts_of(ids[0]).value();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].attempt.handler_name, "billing.meter");
}

TEST_F(ReaperTest, NothingWaitsForAHandlerThatWasUnsubscribedMeanwhile) {
  ScriptedHandler failing{always(a_timeout())};
  failing.name = "billing.meter";
  ScriptedHandler other;
  other.name = "worlds.indexer";
  WorkerOptions elsewhere = worker_options();
  elsewhere.identity = "other:1";
  TestWorker second{*store, other.handlers(), {}, elsewhere};
  TestWorker first{*store, failing.handlers()};
  const auto ids = store.publish(test::events(1));
  ASSERT_TRUE(first.step());
  clock.advance(10s);
  ASSERT_TRUE(second.step());
  clock.advance(10s);
  store::ClaimRequest request;
  request.worker = "test:1/0";
  request.handlers = {"billing.meter"};
  ASSERT_EQ(store->claim(request)->size(), 1U);
  ASSERT_TRUE(store->unsubscribe(1, "billing.meter", {"alice", "cli", "gone"}));
  clock.advance(301s);
  EXPECT_EQ(step().retried, 1);
  EXPECT_TRUE(store.event(ids[0]).progress.empty());
  clock.advance(1h);
  ASSERT_TRUE(second.registry().refresh());
  ASSERT_TRUE(second.step());
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
}

// The handler here has one attempt; the one that the dead worker hosted has more, and keeps them.
TEST(ReaperOfAProcess, FailsNoEventByTheMaximumOfAnotherHandler) {
  TestStore store;
  const std::vector<Subscription> theirs{{"billing.meter", {"*"}, {}, {}}};
  ASSERT_TRUE(store->subscribe(kFirstGeneration, theirs));
  ASSERT_TRUE(store->announce({"dead:1", kFirstGeneration, {"billing.meter"}, "", {}, {}}));
  const auto ids = store.publish(test::events(1));
  store::ClaimRequest request;
  request.worker = "dead:1";
  request.ttl = 1ms;
  ASSERT_EQ(store->claim(request)->size(), 1U);

  ScriptedHandler handler;
  handler.retry.max_attempts = 1;
  SupervisorOptions options;
  options.worker = worker_options();
  options.reap_interval = 5ms;
  const auto supervisor = Supervisor::start(*store, handler.handlers(), {}, options).value();
  handler.await(1);
  supervisor->request_stop();
  supervisor->join();
  const auto event = store.event(ids[0]);
  EXPECT_EQ(event.status, Status::pending);
  ASSERT_EQ(event.progress.size(), 1U);
  EXPECT_EQ(event.progress[0].handler_name, "billing.meter");
  EXPECT_EQ(event.progress[0].attempts, 1);
  EXPECT_FALSE(event.progress[0].out_of_attempts);
}

}  // namespace
}  // namespace sluice::runtime
