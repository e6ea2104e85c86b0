// Who is told of a failed event: worker, exactly-once effects and reaper, and never of anything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/reaper.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class FailureNotices : public testing::Test {
 protected:
  FailureListener listener() {
    return [this](FailureNotice notice) { notices.push_back(std::move(notice)); };
  }
  TestWorker worker(store::Store& on, HandlerSet handlers) {
    return TestWorker{on, std::move(handlers), {}, worker_options(), listener()};
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  std::vector<FailureNotice> notices;
};

TEST_F(FailureNotices, AFailedEventIsToldWithAllThatIsKnown) {
  EnvelopeDraft draft = test::a_draft("billing.charged");
  draft.target = "ledger";
  draft.workspace_id = test::new_id();
  draft.trace_context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto ids = store.publish({test::an_event(draft)});
  ScriptedHandler handler{always(Verdict::failed("TerminalError", "no such account"))};
  ASSERT_TRUE(worker(*store, handler.handlers()).step());

  ASSERT_EQ(notices.size(), 1U);
  const FailureNotice& told = notices[0];
  const auto row = store.event(ids[0]);
  EXPECT_EQ(told.event_id, ids[0]);
  EXPECT_EQ(told.event_type, "billing.charged");
  EXPECT_EQ(told.source, draft.source);
  EXPECT_EQ(told.target, "ledger");
  EXPECT_EQ(told.workspace_id, draft.workspace_id);
  EXPECT_EQ(told.trace_context, draft.trace_context);
  EXPECT_EQ(told.generation, row.generation);
  EXPECT_EQ(told.handler_name, "sluice.log");
  EXPECT_EQ(told.last_error, row.last_error);
  EXPECT_EQ(told.error_class, row.error_class);
  EXPECT_EQ(told.fingerprint, row.fingerprint);
  EXPECT_EQ(told.attempts, row.attempts);
  EXPECT_TRUE(told.failed_at);
}

TEST_F(FailureNotices, OnlyTheLastAttemptIsTold) {
  store.publish(test::events(1));
  ScriptedHandler handler{always(a_timeout())};
  TestWorker one = worker(*store, handler.handlers());
  for (int attempt = 1; attempt <= 4; ++attempt) {
    ASSERT_TRUE(one.step());
    EXPECT_TRUE(notices.empty()) << attempt;
    clock.advance(1h);
  }
  ASSERT_TRUE(one.step());
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].attempts, 5);
}

TEST_F(FailureNotices, ADeliveredEventIsNotTold) {
  store.publish(test::events(3));
  ScriptedHandler handler;
  ASSERT_TRUE(worker(*store, handler.handlers()).step());
  EXPECT_TRUE(notices.empty());
}

TEST_F(FailureNotices, AFailureThatWasFencedIsNotTold) {
  store.publish(test::events(1));
  // While the handler runs, the claim runs out and somebody else takes the event.
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    clock.advance(301s);
    EXPECT_TRUE(Reaper(*store, *store, *store, {}, {{}, [] { return 0.5; }}).step(10));
    return std::vector<Verdict>(events.size(), Verdict::failed("TerminalError", "too late"));
  }};
  const auto report = worker(*store, handler.handlers()).step();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->fenced, 1);
  EXPECT_TRUE(notices.empty());
}

TEST_F(FailureNotices, ASettleThatFailedIsToldOnceWhenItSucceeds) {
  store.publish(test::events(1));
  test::FaultyStore faulty{*store};
  ScriptedHandler handler{always(Verdict::failed("TerminalError", "no"))};
  TestWorker one = worker(faulty, handler.handlers());
  faulty.fail_call(3, test::Fault::before);  // after claim and already_handled
  EXPECT_FALSE(one.step());
  EXPECT_TRUE(notices.empty());
  EXPECT_TRUE(one.step());
  EXPECT_EQ(notices.size(), 1U);
}

TEST_F(FailureNotices, AnExactlyOnceEffectThatFailsIsTold) {
  const auto ids = store.publish(test::events(1));
  HandlerSet handlers;
  ASSERT_TRUE(
      handlers.add({.subscription = {.handler_name = "ledger.book"},
                    .handler = [](const EventEnvelope&, Transaction&) { throw TerminalError{"no such account"}; }}));
  ASSERT_TRUE(worker(*store, std::move(handlers)).step());
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].event_id, ids[0]);
  EXPECT_EQ(notices[0].handler_name, "ledger.book");
}

TEST_F(FailureNotices, OfSeveralHandlersTheOneThatFailedIsNamed) {
  store.publish(test::events(1));
  HandlerSet handlers;
  ASSERT_TRUE(handlers.add({.subscription = {.handler_name = "a.fine"}, .handler = [](const EventEnvelope&) {}}));
  ASSERT_TRUE(handlers.add({.subscription = {.handler_name = "b.broken"},
                            .handler = [](const EventEnvelope&) { throw TerminalError{"broken"}; }}));
  ASSERT_TRUE(worker(*store, std::move(handlers)).step());
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].handler_name, "b.broken");
  EXPECT_EQ(notices[0].error_class, "TerminalError");
}

TEST_F(FailureNotices, TheReaperTellsTheIdAndTheErrorOfTheLastExpiry) {
  const auto ids = store.publish(test::events(1));
  ReaperOptions options{{}, [] { return 0.5; }, listener()};
  options.retry.max_attempts = 2;
  Reaper reaper{*store, *store, *store, {}, options};
  for (int expiry = 1; expiry <= 2; ++expiry) {
    EXPECT_TRUE(notices.empty());
    store::ClaimRequest request;
    request.worker = "gone:1";
    ASSERT_EQ(store->claim(request)->size(), 1U);
    clock.advance(301s);
    ASSERT_TRUE(reaper.step(10));
    clock.advance(1h);
  }
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].event_id, ids[0]);
  EXPECT_EQ(notices[0].event_type, "") << "to be looked up, off this thread";
  EXPECT_EQ(notices[0].last_error, "ClaimExpired: claim expired");
  EXPECT_EQ(notices[0].fingerprint, store.event(ids[0]).fingerprint);
  EXPECT_EQ(notices[0].attempts, 2);
}

}  // namespace
}  // namespace sluice::runtime
