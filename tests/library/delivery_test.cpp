// Delivery through the public API: retries, the dead-letter queue, deferral, limits, stopping.
#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <future>
#include <thread>

#include "tests/library/public_api.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

class Delivering : public PublicApi {
 protected:
  // Runs the handler until `notes` has as many entries; what happened is the answer.
  ListenerStatus run(HandlerOptions options, EventHandler handler, const Notes& notes, std::size_t count) {
    auto running = listener();
    required(running.listen(std::move(options), std::move(handler)));
    required(running.start());
    notes.await(count);
    running.stop();
    return running.status();
  }
  [[nodiscard]] std::string of_the_event(const std::string& column) const {
    return OwnConnection{file()}.run("select " + column + " from outbox");
  }
};

TEST_F(Delivering, AFailingHandlerIsTriedExactlyAsOftenAsItsPolicySays) {
  publish();
  Notes notes;
  const auto fail = [&](const EventEnvelope&, const Delivery& delivery) {
    notes.add(std::to_string(delivery.attempts.front()));
    throw HandlerError{"MailDown", "the mail server is down"};
  };
  const auto status = run({.handler_name = "tests.handler", .retry = quick_retry(3)}, fail, notes, 3);
  EXPECT_THAT(notes.all(), ElementsAre("0", "1", "2"));
  EXPECT_EQ(status.retried, 2);
  EXPECT_EQ(status.failed, 1);
  EXPECT_EQ(status.delivered, 0);
  EXPECT_EQ(of_the_event("status || ' ' || attempts || ' ' || last_error"),
            "failed 3 MailDown: the mail server is down");
}

TEST_F(Delivering, WhatIsTerminalIsTriedOnce) {
  publish();
  Notes notes;
  const auto fail = [&](const EventEnvelope&) {
    notes.add("run");
    throw PayloadError{"payload.n is missing"};
  };
  EXPECT_EQ(run({.handler_name = "tests.handler"}, fail, notes, 1).failed, 1);
  EXPECT_EQ(of_the_event("last_error"), "PayloadError: payload.n is missing");
}

TEST_F(Delivering, WhatThePolicyCallsTerminalIsTriedOnce) {
  publish();
  Notes notes;
  RetryPolicy policy = quick_retry();
  policy.terminal_errors = {"CardDeclined"};
  const auto fail = [&](const EventEnvelope&) -> Verdict {
    notes.add("run");
    return Verdict::failed("CardDeclined", "no");
  };
  EXPECT_EQ(run({.handler_name = "tests.handler", .retry = policy}, fail, notes, 1).failed, 1);
}

TEST_F(Delivering, AnIntegrityViolationIsTerminalAndLeavesNothing) {
  publish();
  const OwnConnection mine{file()};
  mine.run("create table effects (id int primary key)");
  Notes notes;
  const auto violate = [&](const EventEnvelope&, Transaction& transaction) {
    notes.add("run");
    transaction.execute("insert into effects values (1)");
    transaction.execute("insert into effects values (1)");
  };
  EXPECT_EQ(run({.handler_name = "tests.handler", .retry = quick_retry()}, violate, notes, 1).failed, 1);
  EXPECT_EQ(mine.run("select count(*) from effects"), "0");
}

TEST_F(Delivering, ARetriedEffectHappensOnce) {
  publish();
  const OwnConnection mine{file()};
  mine.run("create table effects (id int)");
  Notes notes;
  const auto third_time_lucky = [&](const EventEnvelope&, Transaction& transaction, const Delivery& delivery) {
    EXPECT_EQ(transaction.execute("insert into effects values ($1)", {"1"}), 1);
    notes.add("run");
    if (delivery.attempts.front() < 2) throw std::runtime_error("not yet");
  };
  EXPECT_EQ(run({.handler_name = "tests.handler", .retry = quick_retry()}, third_time_lucky, notes, 3).delivered, 1);
  EXPECT_EQ(mine.run("select count(*) from effects"), "1");
}

TEST_F(Delivering, ARepeatedKeyIsAcknowledgedWithoutARun) {
  for (int i = 0; i < 2; ++i) {
    EnvelopeDraft draft = publisher().draft();
    draft.event_type = "test.happened";
    draft.source = "tests";
    draft.idempotency_key = "the same";
    required(publisher().publish(required(EventEnvelope::make(draft)), {.ordering_key = "in order"}));
  }
  publish(R"({"last":true})", {.ordering_key = "in order"});
  Notes notes;
  const auto status = run(
      {.handler_name = "tests.handler"}, [&](const EventEnvelope& event) { notes.add(event.payload()); }, notes, 2);
  EXPECT_THAT(notes.all(), ElementsAre("{}", R"({"last":true})"));
  EXPECT_EQ(status.delivered, 3);
  EXPECT_EQ(status.deduplicated, 1);
}

TEST_F(Delivering, ADeferredEventComesAgainAndNoAttemptIsCounted) {
  publish();
  Notes notes;
  const auto later = [&](const EventEnvelope& event, const Delivery& delivery) {
    notes.add(std::to_string(delivery.attempts.front()));
    return notes.all().size() == 1 ? Verdict::defer_until(event.occurred_at()) : Verdict::handled();
  };
  const auto status = run({.handler_name = "tests.handler"}, later, notes, 2);
  EXPECT_THAT(notes.all(), ElementsAre("0", "0"));
  EXPECT_EQ(status.released, 1);
  EXPECT_EQ(status.delivered, 1);
}

TEST_F(Delivering, ABatchMayJudgeEachOfItsEvents) {
  const std::vector events{event(R"({"n":1})"), event(R"({"n":2})"), event(R"({"n":3})")};
  required(publisher().publish(events));
  Notes notes;
  const auto judge = [&](std::span<const EventEnvelope> batch) {
    std::vector<Verdict> verdicts;
    for (const EventEnvelope& each : batch) {
      const bool bad = each.payload() == R"({"n":2})";
      verdicts.push_back(bad ? Verdict::failed("Odd", "two is even") : Verdict::handled());
      notes.add(each.payload());
    }
    return verdicts;
  };
  RetryPolicy once = quick_retry(1);
  const auto status = run({.handler_name = "tests.handler", .retry = once}, judge, notes, 3);
  EXPECT_EQ(status.delivered, 2);
  EXPECT_EQ(status.failed, 1);
}

TEST_F(Delivering, AHandlerOfAnotherContextDoesNotGetWhatIsAddressed) {
  EnvelopeDraft draft = publisher().draft();
  draft.event_type = "test.happened";
  draft.source = "tests";
  draft.target = "elsewhere";
  required(publisher().publish(required(EventEnvelope::make(draft))));
  publish(R"({"broadcast":true})");
  Notes notes;
  const auto note = [&](const EventEnvelope& event) { notes.add(event.payload()); };
  run({.handler_name = "tests.handler"}, note, notes, 1);
  EXPECT_THAT(notes.all(), ElementsAre(R"({"broadcast":true})"));
  run({.handler_name = "tests.anything", .context = "*"}, note, notes, 2);
  EXPECT_THAT(notes.all(), testing::Contains("{}"));
}

// Two at once is what a limit of two allows, and this test would hang if it did not happen.
TEST_F(Delivering, AConcurrencyOfTwoRunsTwoAtOnce) {
  publish();
  publish();
  Notes notes;
  std::barrier both{2};
  auto running = required(EventListener::open({.store = store(), .threads = 2, .batch = 1}));
  required(running.listen({.handler_name = "tests.handler", .concurrency = 2}, [&](const EventEnvelope&) {
    both.arrive_and_wait();
    notes.add("run");
  }));
  required(running.start());
  notes.await(2);
  running.stop();
  EXPECT_EQ(running.status().delivered, 2);
}

TEST_F(Delivering, AConcurrencyOfOneNeverRunsTwoAtOnce) {
  constexpr int kEvents = 40;
  for (int i = 0; i < kEvents; ++i) publish();
  Notes notes;
  std::atomic<int> inside = 0;
  auto running = required(EventListener::open({.store = store(), .threads = 4, .batch = 1}));
  required(running.listen({.handler_name = "tests.handler", .concurrency = 1}, [&](const EventEnvelope&) {
    EXPECT_EQ(++inside, 1);
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_EQ(--inside, 0);
    notes.add("run");
  }));
  required(running.start());
  notes.await(kEvents);
  running.stop();
  EXPECT_EQ(running.status().delivered, kEvents);
}

TEST_F(Delivering, AHandlerThatTakesTooLongIsAskedToStop) {
  publish();
  Notes notes;
  const auto slow = [&](const EventEnvelope&, const Delivery& delivery) {
    std::promise<void> asked;
    const std::stop_callback stop{delivery.stop, [&] { asked.set_value(); }};
    asked.get_future().wait();
    notes.add("asked");
    throw std::runtime_error("gave up");
  };
  const auto status = run({.handler_name = "tests.handler", .retry = quick_retry(1), .timeout = 1ms}, slow, notes, 1);
  EXPECT_EQ(status.failed, 1);
  EXPECT_THAT(of_the_event("last_error"), testing::StartsWith("TimeoutError: "));
}

TEST_F(Delivering, StoppedBecauseItTookTooLongIsATimeout) {
  publish();
  Notes notes;
  const auto slow = [&](const EventEnvelope&, const Delivery& delivery) -> Verdict {
    std::promise<void> asked;
    const std::stop_callback stop{delivery.stop, [&] { asked.set_value(); }};
    asked.get_future().wait();
    notes.add("asked");
    return Verdict::stopped("gave up");
  };
  const auto status = run({.handler_name = "tests.handler", .retry = quick_retry(1), .timeout = 1ms}, slow, notes, 1);
  EXPECT_EQ(status.failed, 1);
  EXPECT_THAT(of_the_event("last_error"),
              testing::AllOf(testing::StartsWith("TimeoutError: "), testing::EndsWith("gave up")));
}

// What the reaper of another process does to a claim that it believes dead.
TEST_F(Delivering, AHandlerThatHasLostItsClaimIsAskedToStopAndChangesNothing) {
  publish();
  Notes notes;
  auto running = required(EventListener::open({.store = store(), .threads = 1, .claim_ttl = 300ms}));
  required(running.listen({.handler_name = "tests.handler"}, [&](const EventEnvelope&, const Delivery& delivery) {
    const bool first = notes.all().empty();
    notes.add(first ? "begun" : "run again with attempts " + std::to_string(delivery.attempts.front()));
    if (!first) return;
    std::promise<void> asked;
    const std::stop_callback stop{delivery.stop, [&] { asked.set_value(); }};
    asked.get_future().wait();
    notes.add("asked to stop");
    throw std::runtime_error("stopped half-way");
  }));
  required(running.start());
  notes.await(1);
  OwnConnection{file()}.run(
      "update outbox set status = 'pending', attempts = attempts + 1, retry_after = occurred_at, claimed_at = null,"
      " claimed_by = null, claim_expires_at = null where status = 'in_flight'");
  notes.await(3);
  running.stop();
  EXPECT_THAT(notes.all(), ElementsAre("begun", "asked to stop", "run again with attempts 1"));
  EXPECT_EQ(running.status().fenced, 1);
  EXPECT_EQ(running.status().delivered, 1);
}

TEST_F(Delivering, StopFinishesWhatRunsAndGivesBackWhatHasNotBegun) {
  for (int i = 0; i < 5; ++i) publish();
  Notes notes;
  auto running = required(EventListener::open({.store = store(), .threads = 1, .batch = 5, .drain_timeout = 0s}));
  required(running.listen({.handler_name = "tests.handler"}, [&](const EventEnvelope&, const Delivery& delivery) {
    std::promise<void> asked;
    const std::stop_callback stop{delivery.stop, [&] { asked.set_value(); }};
    notes.add("begun");
    asked.get_future().wait();
  }));
  required(running.start());
  notes.await(1);
  running.stop();
  const ListenerStatus status = running.status();
  EXPECT_EQ(notes.all().size(), 1U);
  EXPECT_EQ(status.claimed, 5);
  EXPECT_EQ(status.delivered, 1);
  EXPECT_EQ(status.released, 4);
  const OwnConnection mine{file()};
  EXPECT_EQ(mine.run("select count(*) from outbox where status = 'pending' and attempts = 0"), "4");
  running.stop();  // once more is harmless
}

TEST_F(Delivering, TheStatusNamesWorkerAndState) {
  auto first = listener();
  auto second = listener();
  EXPECT_EQ(first.status().state, "stopped");
  EXPECT_NE(first.status().worker, "");
  EXPECT_NE(first.status().worker, second.status().worker);
}

// The database may be away for a moment at the start.
TEST_F(Delivering, AStartThatFailedCanBeTriedAgain) {
  publish();
  Notes notes;
  auto running = listener();
  required(running.listen({.handler_name = "tests.handler"}, [&](const EventEnvelope&) { notes.add("run"); }));
  const OwnConnection own{file()};
  own.run("create trigger away before insert on subscriptions begin select raise(abort, 'not now'); end");
  ASSERT_FALSE(running.start());
  ASSERT_FALSE(running.start());
  own.run("drop trigger away");
  required(running.listen({.handler_name = "tests.second"}, [&](const EventEnvelope&) { notes.add("second"); }));
  required(running.start());
  notes.await(2);
  running.stop();
  EXPECT_THAT(notes.all(), testing::UnorderedElementsAre("run", "second"));
  EXPECT_FALSE(running.start()) << "it was started before";
}

}  // namespace
}  // namespace sluice::test
