#include "ops/event_story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/event_json.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/event_record.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> steps(const std::vector<Moment>& moments) {
  std::vector<std::string> words;
  for (const auto& moment : moments) words.push_back(moment.what);
  return words;
}

constexpr std::string_view kHistory =
    R"([{"cycle":1,"attempts":5,"last_error":"TimeoutError: slow","first_failed_at":"2026-05-28T20:27:00Z",)"
    R"("failed_at":"2026-05-28T20:28:00Z","replayed_at":"2026-05-28T20:29:00Z","replayed_by":"alice","extra":[1]}])";

TEST(History, ReadsTheSeedsKeysAndIgnoresOthers) {
  const auto cycles = read_history(kHistory);
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_EQ(cycles[0].cycle, 1);
  EXPECT_EQ(cycles[0].attempts, 5);
  EXPECT_EQ(cycles[0].last_error, "TimeoutError: slow");
  EXPECT_EQ(cycles[0].replayed_by, "alice");
  EXPECT_EQ(*cycles[0].replayed_at - *cycles[0].failed_at, seconds{60});
}

TEST(History, IsLenientAboutWhatWasWrittenByHand) {
  EXPECT_TRUE(read_history("not json").empty());
  EXPECT_TRUE(read_history("[]").empty());
  const auto cycles = read_history(R"([{"cycle":"x","failed_at":null,"last_error":3}, 7])");
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_EQ(cycles[0].cycle, 0);
  EXPECT_EQ(cycles[0].failed_at, std::nullopt);
  EXPECT_EQ(cycles[0].last_error, "");
}

TEST(History, KeepsThePayloadBeforeAnEdit) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.fail(test::id_of(1));
  const store::Actor actor{"alice", "cli", "a typo"};
  ASSERT_TRUE(store->replay_edited({test::id_of(1), R"({"n":9007199254740993})", 1, 100'000}, actor));
  EXPECT_EQ(*payload_before(*store, test::id_of(1), 1), R"({"n":12345678901234567890123})");
  EXPECT_EQ(payload_before(*store, test::id_of(1), 2).error().code, ErrorCode::not_found);
  const std::string json = payloadless_json(*tell_story(*store, test::id_of(1)));
  EXPECT_THAT(json, AllOf(HasSubstr(R"("edited_by_replay":[1])"), HasSubstr(R"("replayed_by":"alice")"),
                          Not(HasSubstr(R"("payload":)"))));
  EXPECT_EQ(payloadless_history("not json"), "not json");
}

TEST(Timeline, OfADeliveredEvent) {
  store::EventRecord event = test::a_record(test::id_of(1));
  event.status = Status::delivered;
  event.published_at += seconds{1};
  event.claimed_at = event.published_at + seconds{1};
  event.claimed_by = "worker-1";
  event.claim_seq = 1;
  event.delivered_at = event.published_at + seconds{3};
  const store::HandledRecord handled{{"sluice.log", "key"}, event.published_at + seconds{2}};
  const auto moments = timeline(event, {handled}, {});
  EXPECT_THAT(steps(moments), ElementsAre("occurred", "published", "claimed", "handled", "delivered"));
  EXPECT_THAT(moments[2].detail, HasSubstr("worker-1"));
  EXPECT_THAT(moments[3].detail, HasSubstr("sluice.log"));
}

TEST(Timeline, OfAReplayedEventThatFailedAgain) {
  store::EventRecord event = test::a_record(test::id_of(1));
  event.published_at = *parse_iso8601("2026-05-28T20:26:41Z");
  event.failure_history = kHistory;
  event.status = Status::failed;
  event.attempts = 1;
  event.last_error = "IntegrityError: duplicate";
  event.first_failed_at = *parse_iso8601("2026-05-28T20:30:01Z");
  event.claimed_at = *parse_iso8601("2026-05-28T20:30:00Z");
  const auto moments = timeline(event, {}, {});
  EXPECT_THAT(steps(moments),
              ElementsAre("occurred", "published", "first_failed", "failed", "replayed", "failed", "first_failed"));
  EXPECT_THAT(moments[3].detail, HasSubstr("5 attempts: TimeoutError: slow"));
  EXPECT_THAT(moments[4].detail, HasSubstr("alice"));
  EXPECT_THAT(moments[5].detail, HasSubstr("1 attempt: IntegrityError: duplicate"));
}

TEST(Timeline, TheAuditTellsAReplayOnce) {
  store::EventRecord event = test::a_record(test::id_of(1));
  event.failure_history = kHistory;
  const store::AuditRecord audit{
      1, *parse_iso8601("2026-05-28T20:29:00Z"), {"alice", "cli", "fixed the bug"}, "replay", test::id_of(1), 1, "{}"};
  const auto moments = timeline(event, {}, {audit});
  EXPECT_EQ(std::count_if(moments.begin(), moments.end(), [](const auto& m) { return m.what == "replayed"; }), 1);
  EXPECT_THAT(moments.back().detail, HasSubstr("through cli: fixed the bug"));
}

TEST(Timeline, SaysWhenARetryIsDue) {
  store::EventRecord event = test::a_record(test::id_of(1));
  event.attempts = 2;
  event.last_error = "TimeoutError: slow";
  event.retry_after = event.published_at + seconds{4};
  const auto moments = timeline(event, {}, {});
  EXPECT_EQ(moments.back().what, "due");
  EXPECT_THAT(moments.back().detail, HasSubstr("2 attempts: TimeoutError: slow"));
}

TEST(Story, GathersEventHandlersAndAudit) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.fail(test::id_of(1), "slow", {"sluice.log"});
  ASSERT_TRUE(store->replay(test::id_of(1), 1, {"alice", "cli", "fixed the bug"}));
  const auto story = tell_story(*store, test::id_of(1));
  ASSERT_TRUE(story);
  EXPECT_EQ(story->event.envelope.event_id(), test::id_of(1));
  ASSERT_EQ(story->handled.size(), 1U);
  EXPECT_EQ(story->handled[0].key.handler_name, "sluice.log");
  ASSERT_EQ(story->audit.size(), 1U);
  EXPECT_EQ(story->audit[0].actor.name, "alice");
  EXPECT_FALSE(story->timeline.empty());
}

TEST(Story, FailsWhereTheStoreFails) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  EXPECT_EQ(tell_story(*store, test::id_of(2)).error().code, ErrorCode::not_found);
  for (const std::string verb : {"get_event", "handled", "audit_of", "registry", "now", "key_blocker", "workers"}) {
    test::FaultyAdministering faulty{store};
    faulty.fail_verb(verb, {ErrorCode::unavailable, Retry::safe, verb, "", ""});
    const auto story = tell_story(faulty, test::id_of(1));
    ASSERT_FALSE(story) << verb;
    EXPECT_EQ(story.error().message, verb);
  }
}

/// A pending event, published at the epoch of the tests, with one subscriber whose worker is alive.
class Waits : public testing::Test {
 protected:
  Waits() {
    around_.now = event_.published_at + seconds{60};
    around_.subscriptions = {{{.handler_name = "billing.meter"}, event_.generation, {}}};
    around_.workers = {{.identity = "w", .generation = event_.generation, .handlers = {"billing.meter"}}};
  }
  std::vector<Wait> waits() { return waits_of(event_, handler_states(event_, {}, around_.subscriptions), around_); }
  std::vector<std::string> details() {
    std::vector<std::string> texts;
    for (const Wait& wait : waits()) texts.push_back(std::string{name(wait.what)} + ": " + wait.detail);
    return texts;
  }
  store::EventRecord event_ = test::a_record(test::id_of(1));
  Surroundings around_;
};

TEST_F(Waits, NothingInTheWayMeansTheNextClaim) {
  EXPECT_THAT(details(),
              ElementsAre("claim: due since " + to_iso8601(event_.published_at) + ": the next free worker takes it"));
  EXPECT_THAT(waits()[0].handlers, ElementsAre("billing.meter"));
}

TEST_F(Waits, OnlyPendingEventsWait) {
  for (const Status status : {Status::in_flight, Status::delivered, Status::failed}) {
    event_.status = status;
    EXPECT_THAT(waits(), testing::IsEmpty());
  }
}

TEST_F(Waits, ForItsTime) {
  event_.retry_after = around_.now + seconds{1};
  EXPECT_THAT(details(), ElementsAre("time: scheduled for " + to_iso8601(*event_.retry_after)));
  EXPECT_EQ(waits()[0].until, event_.retry_after);
  event_.attempts = 1;
  EXPECT_THAT(details(), ElementsAre("time: next retry at " + to_iso8601(*event_.retry_after)));
  event_.retry_after = around_.now;
  EXPECT_THAT(details(), ElementsAre(HasSubstr("claim: due since " + to_iso8601(around_.now))));
}

TEST_F(Waits, ForItsKey) {
  event_.ordering_key = "order 7";
  around_.key_blocker = test::id_of(2);
  EXPECT_THAT(details(),
              ElementsAre("key: event " + test::id_of(2).to_string() + " of ordering key order 7 goes first"));
  EXPECT_EQ(waits()[0].event_id, test::id_of(2));
}

TEST_F(Waits, ForItsKeyWhichIsNoScheduleWhereTheStoreParksIt) {
  event_.ordering_key = "order 7";
  event_.retry_after = around_.now + kParked;
  around_.key_blocker = test::id_of(2);
  EXPECT_THAT(details(), ElementsAre(HasSubstr("time: "), HasSubstr("key: "))) << "this store parks nothing";
  around_.parks = true;
  EXPECT_THAT(details(), ElementsAre(HasSubstr("key: ")));
  event_.retry_after = around_.now + kParked + seconds{1};
  EXPECT_THAT(details(), ElementsAre(HasSubstr("time: "), HasSubstr("key: ")));
}

TEST_F(Waits, ForASubscriber) {
  around_.subscriptions[0].subscription.event_types = {"no.such"};
  EXPECT_THAT(details(), ElementsAre("subscriber: nobody subscribes to " + event_.envelope.event_type() +
                                     " in generation " + std::to_string(event_.generation)));
}

TEST_F(Waits, ForAWorkerOfItsGenerationThatRunsAHandler) {
  const std::string detail = "worker: subscribed by billing.meter, but no worker of generation " +
                             std::to_string(event_.generation) + " that runs it is alive";
  around_.workers[0].handlers = {"mail.sender"};
  EXPECT_THAT(details(), ElementsAre(detail));
  around_.workers[0] = {.identity = "w", .generation = event_.generation + 1, .handlers = {"billing.meter"}};
  EXPECT_THAT(details(), ElementsAre(detail));
  EXPECT_THAT(waits()[0].handlers, ElementsAre("billing.meter"));
}

TEST_F(Waits, ForSeveralThingsAtOnce) {
  event_.ordering_key = "k";
  event_.retry_after = around_.now + seconds{1};
  around_.key_blocker = test::id_of(2);
  around_.workers.clear();
  EXPECT_THAT(details(), ElementsAre(HasSubstr("time: "), HasSubstr("key: "), HasSubstr("worker: ")));
}

TEST(HandlerStates, WhoSubscribedAfterTheFailureMadeNoAttempt) {
  store::EventRecord event = test::a_record(test::id_of(1));
  event.status = Status::failed;
  event.attempts = 5;
  event.last_error = "TimeoutError: slow";
  event.failed_at = Timestamp{seconds{100}};
  const auto subscribed = [&](std::string handler, int at) {
    return store::SubscriptionRecord{{.handler_name = std::move(handler)}, event.generation, Timestamp{seconds{at}}};
  };
  const auto states = handler_states(event, {}, {subscribed("billing.meter", 50), subscribed("mail.sender", 200)});
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].state, HandlerState::State::out_of_attempts);
  EXPECT_EQ(states[0].attempts, 5);
  EXPECT_EQ(states[1].state, HandlerState::State::waiting);
  EXPECT_EQ(states[1].attempts, 0);
  EXPECT_EQ(states[1].last_error, "");
}

}  // namespace
}  // namespace sluice::ops
