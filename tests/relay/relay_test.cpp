// Deliveries through a real broker: handled, once where that is promised, in order, and with dead letters where they
// were.
#include "host/entropy.hpp"
#include "ops/operation_runner.hpp"
#include "runtime/broker_claims.hpp"
#include "tests/relay/relay_fixture.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::test {
namespace {

using store::RelayState;

INSTANTIATE_TEST_SUITE_P(Brokers, RelayTest, testing::Values(Kind::nats, Kind::redis),
                         [](const auto& tested) { return tested.param == Kind::nats ? "nats" : "redis"; });

TEST_P(RelayTest, EveryHandlerGetsEveryEventAndEffectsHappenOnce) {
  constexpr int kEvents = 400;
  Journal journal;
  // First, so that nobody claims who has not seen it yet.
  turn(RelayState::on);
  auto first = consuming("first", {booking("billing.books"), journalling("search.indexer", journal)});
  auto second = consuming("second", {booking("billing.books"), journalling("search.indexer", journal)});
  auto relay = relaying();
  publish_many(0, kEvents);
  journal.await(kEvents);
  eventually([&] { return count("public.effects") >= kEvents; });
  eventually([&] { return count("core.outbox where status = 'delivered'") == kEvents; });
  EXPECT_EQ(count("(select distinct handler, event_id from public.effects) t"), kEvents);
  EXPECT_EQ(count("public.effects"), kEvents) << "an effect that happened twice";
  EXPECT_EQ(count("core.outbox where claimed_by like '%/relay:" + kind_name() + "/%'"), kEvents)
      << "delivered past the broker";
  EXPECT_EQ(out_of_order("billing.books"), 0);
}

TEST_P(RelayTest, AHandlerThatIsOutOfAttemptsMakesADeadLetterAndAReplayGoesThroughTheBroker) {
  Journal journal;
  std::atomic<bool> broken = true;
  std::atomic<int> tries = 0;
  runtime::RegisteredHandler mailer{.subscription = {.handler_name = "billing.mailer"},
                                    .handler =
                                        [&](const EventEnvelope& event) {
                                          ++tries;
                                          if (broken) throw std::runtime_error("no answer from the mail server");
                                          journal.write("billing.mailer", event.event_id());
                                        },
                                    .retry = quick_retry(3)};
  auto consumers = consuming("consumers", {mailer, journalling("search.indexer", journal)});
  turn(RelayState::on);
  auto relay = relaying();
  const Uuid id = publish_one(store());
  journal.await("search.indexer", id);
  eventually([&] { return store().get_event(id)->status == Status::failed; });
  EXPECT_EQ(tries, 3);
  const auto dead = *store().get_event(id);
  EXPECT_EQ(dead.attempts, 3);
  EXPECT_THAT(dead.last_error.value_or(""), testing::HasSubstr("no answer from the mail server"));
  const auto groups = *store().failure_groups({});
  ASSERT_EQ(groups.size(), 1U);

  broken = false;
  ASSERT_TRUE(store().replay(id, 1, kOperator));
  journal.await("billing.mailer", id);
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  EXPECT_EQ(journal.times("billing.mailer", id), 1);
  EXPECT_EQ(journal.times("search.indexer", id), 1) << "it had handled the event before the replay";
  EXPECT_EQ(store().relayed(std::span{&id, 1})->at(0).replay, 1);
}

TEST_P(RelayTest, ATerminalErrorFailsAtOnceAndADeferralIsNotCounted) {
  std::atomic<int> deferred = 0;
  runtime::RegisteredHandler picky{.subscription = {.handler_name = "billing.mailer"},
                                   .handler =
                                       [&](const EventEnvelope& event) {
                                         if (event.event_type() == "test.refused") throw TerminalError("never");
                                         if (++deferred < 4) return Verdict::defer_for(1ms);
                                         return Verdict::handled();
                                       },
                                   .retry = quick_retry(2)};
  turn(RelayState::on);
  auto consumers = consuming("consumers", {picky});
  auto relay = relaying();
  const Uuid refused = publish_one(store(), an_event("test.refused"));
  const Uuid later = publish_one(store(), an_event("test.later"));
  eventually([&] { return store().get_event(refused)->status == Status::failed; });
  eventually([&] { return deferred == 4; });
  EXPECT_EQ(store().get_event(refused)->attempts, 1);
  EXPECT_EQ(store().get_event(later)->status, Status::delivered);
}

TEST_P(RelayTest, AnEventThatWasPublishedAndNotSettledIsPublishedAgainUnderItsIdAndHandledOnce) {
  Journal journal;
  // Without a dedup row: it is the broker that knows the message.
  runtime::RegisteredHandler indexer = journalling("search.indexer", journal);
  indexer.idempotent = true;
  turn(RelayState::on);
  auto consumers = consuming("consumers", {indexer});
  auto faulty = std::make_unique<FaultyStore>(open_store(database_.url()));
  faulty->fail_verb("settle", {ErrorCode::unavailable, Retry::never, "killed before the settle", {}, {}});
  auto killed = relaying("killed", std::move(faulty));
  const Uuid id = publish_one(store());
  journal.await("search.indexer", id);
  killed->stop();
  EXPECT_EQ(store().get_event(id)->status, Status::in_flight) << "the settle was lost";
  sql("update core.outbox set claimed_at = claimed_at - interval '1 hour'");
  sql("update core.claims set expires_at = expires_at - interval '1 hour'");
  auto relay = relaying("second");
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  EXPECT_EQ(store().get_event(id)->attempts, 0) << "the relay's death is no attempt of a handler";
  EXPECT_EQ(relayed_.delivery.relayed.with({"duplicate"}).value(), 1U);
  const Uuid last = publish_one(store());
  journal.await("search.indexer", last);
  EXPECT_EQ(journal.times("search.indexer", id), 1);
}

TEST_P(RelayTest, TheTraceGoesOnBehindTheBroker) {
  const std::string published = TraceContext{7, 7, 7, TraceContext::kSampled}.traceparent();
  Journal journal;
  turn(RelayState::on);
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  EnvelopeDraft draft = a_draft();
  draft.trace_context = published;
  const Uuid id = publish_one(store(), an_event(draft));
  journal.await("search.indexer", id);
  eventually([&] { return !tracer_.spans("settle").empty(); });
  const auto relayed = tracer_.spans("relay " + kind_name());
  ASSERT_EQ(relayed.size(), 1U);
  EXPECT_EQ(relayed[0].kind, SpanKind::producer);
  EXPECT_EQ(relayed[0].parent, published);
  EXPECT_EQ(relayed[0].attributes.at("messaging.system"), kind_name());
  const auto processed = tracer_.spans("process");
  ASSERT_EQ(processed.size(), 1U) << "the relay itself is no run of a handler";
  EXPECT_EQ(processed[0].parent, published);
  EXPECT_EQ(processed[0].attributes.at("messaging.consumer.group.name"), "search.indexer");
}

TEST_P(RelayTest, EachEventCountsOnceInTheHistoryAndEachHandlerItsOwn) {
  constexpr int kEvents = 20;
  const auto delivered = [&](HistoryKind kind, const std::string& series) {
    const Timestamp now = *store().now();
    HistoryCounts all;
    for (const HistoryRow& row : *store().history({true, now - 1h, now + 1h, kind, series})) all.add(row.counts);
    return all.delivered;
  };
  Journal journal;
  turn(RelayState::on);
  auto consumers =
      consuming("consumers", {journalling("billing.books", journal), journalling("search.indexer", journal)});
  auto relay = relaying();
  publish_many(0, kEvents);
  journal.await(2 * kEvents);
  eventually([&] { return count("core.outbox where status = 'delivered'") == kEvents; });
  relay->stop();
  consumers->stop();
  EXPECT_EQ(delivered(HistoryKind::all, ""), kEvents);
  EXPECT_EQ(delivered(HistoryKind::type, a_draft().event_type), kEvents);
  EXPECT_EQ(delivered(HistoryKind::handler, "billing.books"), kEvents);
  EXPECT_EQ(delivered(HistoryKind::handler, "search.indexer"), kEvents);
  EXPECT_EQ(delivered(HistoryKind::handler, "sluice.relay"), 0) << "a relay is no handler";
  EXPECT_EQ(relayed_.delivery.relayed.with({"published"}).value(), kEvents);
  EXPECT_EQ(relayed_.delivery.settled.with({"delivered"}).value(), 0U) << "it is counted where the handlers run";
}

TEST_P(RelayTest, WhileTheBrokerIsAwayEventsWaitAndNoneIsLost) {
  Journal journal;
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  turn(RelayState::on);
  auto relay = relaying();
  journal.await("search.indexer", publish_one(store()));
  server_.kill();
  publish_many(0, 50);
  eventually([&] { return (*relay)->trouble().has_value(); });
  EXPECT_EQ(count("core.outbox where status = 'failed'"), 0);
  server_.start();
  journal.await(51);
  eventually([&] { return count("core.outbox where status = 'delivered'") == 51; });
  EXPECT_EQ(count("core.outbox where attempts > 0"), 0);
  EXPECT_GT(relayed_.delivery.relay_errors.with({"unavailable"}).value(), 0U);
}

// The ack wait is so long that the broker would not hand the message out again in time.
TEST_P(RelayTest, WhatWasCommittedWhileTheBrokerWasAwayIsToldWhenItIsBack) {
  std::atomic<bool> away = false;
  const runtime::RegisteredHandler handler{.subscription = {.handler_name = "billing.books"},
                                           .handler =
                                               [&](const EventEnvelope&, Transaction&) {
                                                 server_.stop();
                                                 away = true;
                                               },
                                           .retry = quick_retry()};
  turn(RelayState::on);
  auto relay = relaying();
  auto consumers = consuming("consumers", {handler}, 1h);
  publish_one(store());
  eventually([&] { return away.load(); });
  eventually([&] { return count("core.event_handled") == 1; });
  server_.start();
  eventually([&] {
    const auto facts = admin_->inspect();
    return facts && !facts->consumers.empty() &&
           std::all_of(facts->consumers.begin(), facts->consumers.end(),
                       [](const auto& consumer) { return consumer.waiting <= 0 && consumer.unsettled == 0; });
  });
}

/// Replays every dead letter, one step after the other.
OperationState replay_all(store::Store& store, std::int64_t events) {
  const auto planned = store.plan_operation({.id = new_id(),
                                             .kind = OperationKind::replay,
                                             .filter = {},
                                             .to_generation = 1,
                                             .settings = {.rate = 0, .canary = 2, .stop_percent = 20},
                                             .actor = kOperator});
  if (!planned) throw std::runtime_error(planned.error().message);
  if (!store.start_operation(planned->id, events, planned->progress.settings, kOperator))
    return OperationState::planned;
  ops::OperationRunner runner{store, "tests"};
  OperationState state = OperationState::running;
  eventually([&] {
    state = runner.step(planned->id)->operation.progress.state;
    return is_over(state);
  });
  return state;
}

TEST_P(RelayTest, ABulkReplayStopsWhenTheConsumersFailAgain) {
  constexpr int kEvents = 12;
  std::atomic<bool> broken = true;
  runtime::RegisteredHandler mailer{.subscription = {.handler_name = "billing.mailer"},
                                    .handler =
                                        [&](const EventEnvelope&) {
                                          if (broken) throw TerminalError("never");
                                        },
                                    .retry = quick_retry(1),
                                    .idempotent = true};
  turn(RelayState::on);
  auto consumers = consuming("consumers", {mailer});
  auto relay = relaying();
  publish_many(0, kEvents);
  eventually([&] { return count("core.outbox where status = 'failed'") == kEvents; });
  EXPECT_EQ(replay_all(store(), kEvents), OperationState::stopped) << "the broker's answer is no delivery";
  EXPECT_EQ(count("core.operations where failed_again = 2 and delivered = 0"), 1);
  eventually([&] { return count("core.outbox where status = 'failed'") == kEvents; });
  broken = false;
  EXPECT_EQ(replay_all(store(), kEvents), OperationState::finished);
  EXPECT_EQ(count("core.operations where failed_again = 0 and delivered = 12"), 1);
}

TEST_P(RelayTest, TheSwitchIsTurnedUnderLoadAndBack) {
  auto first = consuming("first", {booking("billing.books")});
  auto second = consuming("second", {booking("billing.books")});
  auto relay = relaying();
  publish_many(0, 200);
  turn(RelayState::on);
  publish_many(200, 400);
  eventually([&] { return count("core.outbox where claimed_by like '%/relay:%'") > 50; });
  turn(RelayState::draining);
  publish_many(400, 500);
  // Nobody claims until the broker has nothing left.
  eventually([&] {
    const auto facts = admin_->inspect();
    return facts && std::all_of(facts->consumers.begin(), facts->consumers.end(),
                                [](const auto& consumer) { return consumer.waiting <= 0 && consumer.unsettled == 0; });
  });
  turn(RelayState::off);
  publish_many(500, 600);
  eventually([&] { return count("core.outbox where status = 'delivered'") == 600; });
  eventually([&] { return count("public.effects") >= 600; });
  EXPECT_EQ(count("public.effects"), 600) << "an effect that happened twice";
  EXPECT_EQ(count("(select distinct event_id from public.effects) t"), 600);
  EXPECT_EQ(out_of_order("billing.books"), 0);
  EXPECT_GT(count("core.outbox where claimed_by not like '%/relay:%'"), 99);
}

// In Redis all handlers read one stream.
TEST_P(RelayTest, AHandlerThatWantsFewPassesTheOthersByAtOnce) {
  const Subscription all{"search.indexer", {"*"}, {}, {}};
  const Subscription few{"rare.watcher", {"rare.*"}, {}, {}};
  ASSERT_TRUE(store().subscribe(1, std::vector{all, few}));
  turn(RelayState::on);
  runtime::RegistrySnapshot both;
  both.subscriptions = {all, few};
  const runtime::RegistryView everybody{both};
  runtime::BrokerClaims claims{{.store = store(),
                                .broker = *admin_,
                                .everybody = everybody,
                                .subscription = few,
                                .shards = 4,
                                .clock = host::wall_clock,
                                .logger = {}}};
  ASSERT_TRUE(claims.claim({.worker = "w", .limit = 10}));
  for (int n = 0; n < 300; ++n) ASSERT_TRUE(store().publish(std::vector{on_channel(numbered_event(n))}));
  EnvelopeDraft draft = a_draft();
  draft.event_type = "rare.bird";
  ASSERT_TRUE(store().publish(std::vector{on_channel(an_event(draft))}));
  const auto relay = relaying();
  eventually([&] { return count("core.outbox where status = 'delivered'") == 301; });
  const auto claimed = claims.claim({.worker = "w", .limit = 10});
  ASSERT_TRUE(claimed) << claimed.error().message;
  EXPECT_EQ(claimed->size(), 1U) << "it came back with nothing after the first ten";
}

TEST_P(RelayTest, AWorkerWithoutABrokerClaimsNothingAndSaysSo) {
  Journal journal;
  turn(RelayState::on);
  std::mutex mutex;
  std::string log;
  telemetry::Logger logger{[&](std::string_view line) {
                             const std::lock_guard lock{mutex};
                             log += line;
                           },
                           {},
                           {}};
  DeliveringProcess deaf{
      open_store(database_.url()), {journalling("search.indexer", journal)}, relaying_options("deaf"), logger};
  publish_one(store());
  eventually([&] {
    const auto workers = store().workers(1min);
    return workers && !workers->empty() && workers->front().listener == "no broker";
  });
  EXPECT_EQ(count("core.outbox where status = 'pending'"), 1);
  EXPECT_EQ(journal.size(), 0U);
  {
    const std::lock_guard lock{mutex};
    EXPECT_THAT(log, testing::HasSubstr("has no such broker configured"));
  }
  turn(RelayState::off);
  journal.await(1);
}

TEST_P(RelayTest, WhileTheRelayIsOnTheDatabaseIsNotAskedForClaims) {
  Journal journal;
  turn(RelayState::on);
  auto asked = std::make_unique<FaultyStore>(open_store(database_.url()));
  asked->fail_verb("claim", {ErrorCode::unavailable, Retry::safe, "asked for a claim", {}, {}});
  auto options = relaying_options("consumers");
  options.broker = terms(*admin_, false);
  DeliveringProcess consumers{std::move(asked), {journalling("search.indexer", journal)}, options};
  auto relay = relaying();
  journal.await("search.indexer", publish_one(store()));
  EXPECT_FALSE(consumers->trouble().has_value());
}

TEST_P(RelayTest, AnEventThatNobodySubscribesToIsNotRelayed) {
  Journal journal;
  runtime::RegisteredHandler narrow = journalling("search.indexer", journal);
  narrow.subscription.event_types = {"scan.*"};
  auto consumers = consuming("consumers", {narrow});
  turn(RelayState::on);
  auto relay = relaying();
  const Uuid unwanted = publish_one(store(), an_event("other.happened"));
  const Uuid wanted = publish_one(store(), an_event("scan.completed"));
  journal.await("search.indexer", wanted);
  EXPECT_EQ(store().get_event(unwanted)->status, Status::pending);
}

}  // namespace
}  // namespace sluice::test
