#include "runtime/pull_settling.hpp"

#include "tests/support/pull_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using Kind = PullVerdict::Kind;

Failure a_failure(bool terminal = false) { return {"TimeoutError", "no answer", {}, terminal}; }

class PullSettlingTest : public PullFixture {
 protected:
  PulledEvent pull_one() {
    store.publish(test::events(1));
    return pull().at(0);
  }
  store::EventRecord event(const PulledEvent& pulled) { return store.event(pulled.event.envelope.event_id()); }
};

TEST_F(PullSettlingTest, HandledIsDeliveredAndRecorded) {
  const PulledEvent pulled = pull_one();
  const PullVerdict verdict = settle(pulled, Outcome::handled());
  EXPECT_EQ(verdict.kind, Kind::settled);
  EXPECT_EQ(verdict.status, Status::delivered);
  EXPECT_EQ(event(pulled).status, Status::delivered);
  EXPECT_EQ(store->handled(event(pulled))->size(), 1U);
}

TEST_F(PullSettlingTest, FailedIsRetriedUntilThePolicyEnds) {
  PulledEvent pulled = pull_one();
  for (int attempt = 1; attempt < 5; ++attempt) {
    EXPECT_EQ(settle(pulled, Outcome::failed(a_failure())).status, Status::pending);
    EXPECT_EQ(event(pulled).attempts, attempt);
    EXPECT_EQ(event(pulled).last_error, "TimeoutError: no answer");
    clock.advance(301s);
    pulled = pull().at(0);
  }
  EXPECT_EQ(settle(pulled, Outcome::failed(a_failure())).status, Status::failed);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].handler_name, "billing.mailer");
}

TEST_F(PullSettlingTest, ASettlementIsASpanOfTheEventsTrace) {
  EnvelopeDraft draft = test::a_draft();
  draft.trace_context = TraceContext{7, 7, 1, TraceContext::kSampled}.traceparent();
  store.publish({test::an_event(draft)});
  settle(pull().at(0), Outcome::failed(a_failure()));
  ASSERT_EQ(tracer.spans().size(), 2U);
  EXPECT_EQ(tracer.spans()[0].parent, draft.trace_context) << "the claim";
  const test::RecordedSpan settled = tracer.spans()[1];
  EXPECT_EQ(settled.name, "settle outbox_gen_1");
  EXPECT_EQ(settled.kind, SpanKind::client);
  EXPECT_EQ(settled.parent, draft.trace_context);
}

TEST_F(PullSettlingTest, ATerminalFailureEndsAtOnce) {
  EXPECT_EQ(settle(pull_one(), Outcome::failed(a_failure(true))).status, Status::failed);
}

TEST_F(PullSettlingTest, DeferredAndReleasedCountNothing) {
  PulledEvent pulled = pull_one();
  EXPECT_EQ(settle(pulled, Outcome::deferred(clock.now() + 1min)).status, Status::pending);
  EXPECT_EQ(event(pulled).retry_after, clock.now() + 1min);
  EXPECT_EQ(event(pulled).attempts, 0);
  clock.advance(61s);
  pulled = pull().at(0);
  EXPECT_EQ(settle(pulled, Outcome::released()).status, Status::pending);
  EXPECT_EQ(event(pulled).attempts, 0);
  EXPECT_EQ(pull().size(), 1U);
}

TEST_F(PullSettlingTest, ALateReportIsFenced) {
  const PulledEvent first = pull_one();
  EXPECT_EQ(settle(first, Outcome::released()).kind, Kind::settled);
  const PulledEvent second = pull().at(0);
  EXPECT_EQ(settle(first, Outcome::failed(a_failure(true))).kind, Kind::fenced);
  EXPECT_EQ(event(second).status, Status::in_flight);
  EXPECT_EQ(settle(second, Outcome::handled()).kind, Kind::settled);
  EXPECT_EQ(settle(second, Outcome::handled()).kind, Kind::fenced);
  EXPECT_EQ(event(second).status, Status::delivered);
  EXPECT_TRUE(failures.empty());
}

TEST_F(PullSettlingTest, AnyDaemonOfTheStoreWillDo) {
  const PulledEvent pulled = pull_one();
  PullPresence other_presence{*store, 2};
  PullSettling other{*store, other_presence, {}, {{}, [] { return 0.5; }}};
  const auto verdicts = other.settle(std::vector<PullSettlement>{{token_of(pulled), Outcome::handled()}});
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(verdicts->at(0).kind, Kind::settled);
  EXPECT_EQ(event(pulled).status, Status::delivered);
}

TEST_F(PullSettlingTest, AnEventThatIsGoneIsUnknown) {
  PullToken token = token_of(pull_one());
  token.claim.event_id = test::new_id();
  const auto verdicts = settling.settle(std::vector<PullSettlement>{{token, Outcome::handled()}});
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(verdicts->at(0).kind, Kind::unknown);
}

TEST_F(PullSettlingTest, ManyAreToldInTheirOrder) {
  store.publish(test::events(3));
  const auto pulled = pull();
  ASSERT_EQ(pulled.size(), 3U);
  settle(pulled[1], Outcome::handled());
  std::vector<PullSettlement> reports;
  for (const PulledEvent& each : pulled) reports.push_back({token_of(each), Outcome::handled()});
  const auto verdicts = settling.settle(reports);
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(verdicts->at(0).kind, Kind::settled);
  EXPECT_EQ(verdicts->at(1).kind, Kind::fenced);
  EXPECT_EQ(verdicts->at(2).kind, Kind::settled);
}

TEST_F(PullSettlingTest, OfTheSameClaimTwiceInOneCallTheFirstCounts) {
  const PulledEvent pulled = pull_one();
  const auto verdicts = settling.settle(std::vector<PullSettlement>{
      {token_of(pulled), Outcome::failed(a_failure(true))}, {token_of(pulled), Outcome::handled()}});
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(verdicts->at(0).kind, Kind::settled);
  EXPECT_EQ(verdicts->at(1).kind, Kind::repeated);
  EXPECT_EQ(event(pulled).status, Status::failed);
}

TEST_F(PullSettlingTest, OtherHandlersOfTheEventGetTheirTurn) {
  pull(a_question("orders.indexer"));
  const PulledEvent pulled = pull_one();
  EXPECT_EQ(settle(pulled, Outcome::handled()).status, Status::pending);
  clock.advance(1s);
  EXPECT_TRUE(pull().empty()) << "it has handled it";
  const auto other = pull(a_question("orders.indexer"));
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(settle(other[0], Outcome::handled()).status, Status::delivered);
}

TEST_F(PullSettlingTest, AHeartbeatKeepsTheClaimAndTellsWhatIsLost) {
  store.publish(test::events(2));
  const auto pulled = pull();
  const std::vector tokens{token_of(pulled.at(0)), token_of(pulled.at(1))};
  clock.advance(50s);
  EXPECT_TRUE(settling.heartbeat(tokens, 60s)->empty());
  clock.advance(50s);
  EXPECT_TRUE(store->expired_claims(10)->empty());
  settle(pulled[1], Outcome::released());
  const auto lost = settling.heartbeat(tokens, 60s);
  ASSERT_TRUE(lost);
  EXPECT_EQ(*lost, std::vector<std::size_t>{1});
}

TEST_F(PullSettlingTest, OfTwoClaimsOfOneEventTheOlderIsLost) {
  const PulledEvent first = pull_one();
  settle(first, Outcome::released());
  const PulledEvent second = pull().at(0);
  const std::vector tokens{token_of(second), token_of(first)};
  EXPECT_EQ(*settling.heartbeat(tokens, 60s), std::vector<std::size_t>{1});
}

TEST_F(PullSettlingTest, FailingAtEachStepLosesNothing) {
  for (int n = 1; n <= 8; ++n) {
    for (const test::Fault fault : {test::Fault::before, test::Fault::after}) {
      const PulledEvent pulled = pull_one();
      const std::vector<PullSettlement> report{{token_of(pulled), Outcome::handled()}};
      faulty.fail_call(n, fault);
      const auto first = settling.settle(report);
      faulty.fail_call(0, test::Fault::before, 0);
      if (!first) {
        ASSERT_TRUE(settling.settle(report)) << n;
      }
      EXPECT_EQ(event(pulled).status, Status::delivered) << n;
    }
  }
}

}  // namespace
}  // namespace sluice::runtime
