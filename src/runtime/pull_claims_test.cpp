#include "runtime/pull_claims.hpp"

#include <gmock/gmock.h>

#include "runtime/reaper.hpp"
#include "tests/support/pull_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class PullClaimsTest : public PullFixture {
 protected:
  std::string refused_field(PullQuestion question) {
    const Answered& answer = ask(std::move(question));
    claims.step();
    return answer && !*answer ? answer->error().field : "";
  }
};

TEST_F(PullClaimsTest, TheFirstQuestionSubscribesAndClaims) {
  const auto ids = store.publish({test::an_event("invoice.sent"), test::an_event("order.placed")});
  PullQuestion question = a_question();
  question.subscription.event_types = {"invoice.*"};
  question.ttl = 90s;
  const auto events = pull(question);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].event.envelope.event_id(), ids[0]);
  EXPECT_EQ(events[0].expires_at, clock.now() + 90s);
  EXPECT_EQ(store.event(ids[0]).claimed_by, "pull:billing.mailer:w1");
  const auto registry = store->registry(kFirstGeneration);
  ASSERT_EQ(registry->subscriptions.size(), 1U);
  EXPECT_EQ(registry->subscriptions[0].subscription, question.subscription);
}

TEST_F(PullClaimsTest, WhileABrokerCarriesTheDeliveriesNobodyPulls) {
  store.publish(test::events(1));
  ASSERT_TRUE(store->switch_relay(store::RelayState::on, "nats", {"alice", "test", "a test"}));
  EXPECT_EQ(refused_field(a_question()), "relay");
  EXPECT_TRUE(store->registry(kFirstGeneration)->subscriptions.empty());
}

TEST_F(PullClaimsTest, WhatIsPulledCountsAsClaimed) {
  store.publish(test::events(3));
  EXPECT_EQ(pull().size(), 3U);
  EXPECT_EQ(metrics.delivery.claimed_events->value(), 3U);
  pull();
  EXPECT_EQ(metrics.delivery.claimed_events->value(), 3U);
  EXPECT_EQ(metrics.delivery.claims.with({"partial"}).value(), 1U);
  EXPECT_EQ(metrics.delivery.claims.with({"empty"}).value(), 1U);
}

TEST_F(PullClaimsTest, AClaimThatFindsEventsIsASpanLinkedToThem) {
  pull();
  EXPECT_TRUE(tracer.spans().empty()) << "nothing was there";
  std::vector<std::string> traces;
  std::vector<store::NewEvent> events;
  for (std::uint64_t number = 1; number <= 2; ++number) {
    traces.push_back(TraceContext{7, 7, number, TraceContext::kSampled}.traceparent());
    EnvelopeDraft draft = test::a_draft();
    draft.trace_context = traces.back();
    events.push_back(test::an_event(std::move(draft)));
  }
  store.publish(std::move(events));
  EXPECT_EQ(pull().size(), 2U);
  ASSERT_EQ(tracer.spans().size(), 1U);
  EXPECT_EQ(tracer.spans()[0].name, "claim outbox_gen_1");
  EXPECT_EQ(tracer.spans()[0].kind, SpanKind::client);
  EXPECT_EQ(tracer.spans()[0].links, traces);
}

TEST_F(PullClaimsTest, AWorkerThatAsksIsAlive) {
  pull();
  const auto workers = store->workers(30s);
  ASSERT_EQ(workers->size(), 1U);
  EXPECT_EQ(workers->front().identity, "pull:billing.mailer:w1");
  EXPECT_THAT(workers->front().handlers, ElementsAre("billing.mailer"));
}

TEST_F(PullClaimsTest, AQuestionMayLeaveTheTypesToTheRegistry) {
  PullQuestion question = a_question();
  question.subscription.event_types = {"invoice.*"};
  pull(question);
  store.publish({test::an_event("order.placed")});
  question.subscription.event_types.clear();
  EXPECT_TRUE(pull(question).empty());
  question.subscription.handler_name = "billing.stranger";
  EXPECT_EQ(refused_field(question), "event_types");
}

TEST_F(PullClaimsTest, OneThatWaitsIsAnsweredWhenItIsWoken) {
  const Answered& answer = ask(a_question("billing.mailer", 1h));
  claims.step();
  EXPECT_FALSE(answer);
  store.publish(test::events(1));
  claims.step();
  EXPECT_FALSE(answer) << "nobody has woken, and it is not time to look";
  claims.wake();
  claims.step();
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ((*answer)->size(), 1U);
}

TEST_F(PullClaimsTest, OneThatComesLaterLooksAtOnce) {
  const Answered& first = ask(a_question("billing.mailer", 1h));
  claims.step();
  store.publish(test::events(1));
  EXPECT_EQ(pull().size(), 1U);
  EXPECT_FALSE(first);
}

TEST_F(PullClaimsTest, AnEventIsHandedToOneOfThoseWhoWait) {
  const Answered& first = ask(a_question("billing.mailer", 1h));
  const Answered& second = ask(a_question("billing.mailer", 1h));
  claims.step();
  store.publish(test::events(1));
  claims.wake();
  claims.step();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
}

TEST_F(PullClaimsTest, TheRestEndsWhenSomethingFallsDue) {
  store::NewEvent later = test::an_event();
  later.delay = 2s;
  store.publish({later});
  const Answered& answer = ask(a_question("billing.mailer", 1h));
  EXPECT_LE(claims.step(), Duration{2s});
  EXPECT_FALSE(answer);
}

TEST_F(PullClaimsTest, NobodyWaitingMeansNothingToDo) { EXPECT_GE(claims.step(), Duration{1min}); }

TEST_F(PullClaimsTest, AnEventThatItsHandlerHasHandledIsNotHandedOutAgain) {
  const Uuid id = store.publish(test::events(1)).front();
  const auto held = pull();
  ASSERT_EQ(held.size(), 1U);
  clock.advance(61s);
  Reaper reaper{*store, *store, *store, {}, {without_jitter(), [] { return 0.5; }}};
  ASSERT_EQ(reaper.step(10)->retried, 1);
  EXPECT_EQ(settle(held[0], Outcome::handled()).kind, PullVerdict::Kind::fenced);
  EXPECT_EQ(store.event(id).status, Status::pending);
  clock.advance(300s);
  EXPECT_TRUE(pull().empty());
  EXPECT_EQ(store.event(id).status, Status::delivered);
}

TEST_F(PullClaimsTest, QuestionsAreChecked) {
  EXPECT_EQ(refused_field(a_question("mailer")), "handler");
  PullQuestion question = a_question();
  question.worker = "two words";
  EXPECT_EQ(refused_field(question), "worker");
  question = a_question();
  question.subscription.event_types = {"in*voice"};
  EXPECT_NE(refused_field(question), "");
}

TEST_F(PullClaimsTest, WhatTheDaemonDeliversItselfCannotBePulledFor) {
  claims.reserve({"billing.mailer"});
  EXPECT_EQ(refused_field(a_question()), "handler");
  claims.reserve({});
  EXPECT_TRUE(pull().empty());
}

TEST_F(PullClaimsTest, AStoreThatIsAwayIsToldAndTheNextQuestionWorks) {
  store.publish(test::events(1));
  for (int n = 1; n <= 6; ++n) {
    faulty.fail_call(n, test::Fault::before);
    const Answered& answer = ask(a_question());
    claims.step();
    ASSERT_TRUE(answer) << n;
    // It may have needed fewer calls than that.
    faulty.fail_call(0, test::Fault::before, 0);
    if (*answer && !(*answer)->empty()) {
      EXPECT_EQ(settle((*answer)->front(), Outcome::released()).kind, PullVerdict::Kind::settled);
    }
    clock.advance(61s);
    Reaper reaper{*store, *store, *store, {}, {without_jitter(), [] { return 0.5; }}};
    ASSERT_TRUE(reaper.step(10));
    clock.advance(300s);
  }
  EXPECT_EQ(pull().size(), 1U);
}

TEST_F(PullClaimsTest, AStopAnswersThoseWhoWait) {
  claims.start();
  const Answered& answer = ask(a_question("billing.mailer", 1h));
  claims.stop();
  ASSERT_TRUE(answer && *answer);
  EXPECT_TRUE((*answer)->empty());
  const Answered& late = ask(a_question());
  ASSERT_TRUE(late && !*late);
  EXPECT_EQ(late->error().code, ErrorCode::unavailable);
}

TEST_F(PullClaimsTest, TooManyWhoWaitAreRefused) {
  PullClaims small{faulty, settling, presence, {.most_waiting = 1}};
  Answered first;
  Answered second;
  small.ask(a_question("billing.mailer", 1h), [&](auto given) { first = std::move(given); });
  small.ask(a_question("billing.mailer", 1h), [&](auto given) { second = std::move(given); });
  ASSERT_TRUE(second && !*second);
  EXPECT_EQ(second->error().code, ErrorCode::exhausted);
  small.stop();
}

TEST_F(PullClaimsTest, ItsThreadAnswersByItself) {
  claims.start();
  std::mutex mutex;
  std::condition_variable changed;
  Answered answer;
  claims.ask(a_question("billing.mailer", 1h), [&](auto given) {
    const std::lock_guard lock{mutex};
    answer = std::move(given);
    changed.notify_all();
  });
  store.publish(test::events(1));
  claims.wake();
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return answer.has_value(); });
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->size(), 1U);
}

}  // namespace
}  // namespace sluice::runtime
