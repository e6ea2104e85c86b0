// A stream of the wrong kind on a real nats-server, as an operator may have made or changed it: one clear sentence, and
// what the broker has not taken waits until the stream is mended.
#include "ops/doctor_findings.hpp"
#include "ops/relay.hpp"
#include "tests/relay/relay_fixture.hpp"

namespace sluice::test {
namespace {

using ops::FindingId;
using ops::Severity;
using store::RelayState;
using testing::HasSubstr;

/// What the doctor says of the broker.
ops::Finding finding_on(store::Store& store, broker::Broker& broker, const ops::RelaySettings& settings) {
  ops::DoctorFacts facts;
  facts.relay = ops::look_at_relay(store, &broker).value();
  facts.relay_settings = settings;
  for (ops::Finding& one : ops::findings_of(facts)) {
    if (one.id == FindingId::broker_unsafe) return std::move(one);
  }
  return {};
}

class RelayStreams : public RelayTest {
 protected:
  [[nodiscard]] static ops::RelaySettings settings() { return {.kind = "nats", .shards = 4, .ack_wait = 5s}; }

  /// The stream as the relay makes it, but for what is `changed`: of a name that comes twice the last one counts.
  void ask(const std::string& verb, const std::string& changed = "") const {
    const std::string config =
        R"({"name":"SLUICE","subjects":["sluice.>"],"storage":"file","retention":"limits","discard":"new",)"
        R"("num_replicas":1,"max_age":604800000000000,"duplicate_window":7200000000000)" +
        (changed.empty() ? changed : "," + changed) + "}";
    const bool whole = verb == "CREATE" || verb == "UPDATE";
    const std::string answer = ask_jetstream(server_.port(), "STREAM." + verb + ".SLUICE", whole ? config : "");
    ASSERT_THAT(answer, testing::Not(HasSubstr("\"error\""))) << verb << ' ' << changed;
  }
  void make_anew(const std::string& changed) const {
    ask("DELETE");
    ask("CREATE", changed);
  }

  void expect_refused(const std::string& sentence, const std::string& fix) {
    const auto refused = ops::relay_on(store(), *admin_, settings(), kOperator);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_EQ(refused.error().message, sentence);
    EXPECT_THAT(refused.error().hint, HasSubstr(fix));
    EXPECT_EQ(store().relay()->state, RelayState::off);
  }
  ops::Finding finding() { return finding_on(store(), *admin_, settings()); }
  void expect_critical(const std::string& title) {
    EXPECT_EQ(finding().severity, Severity::critical);
    EXPECT_THAT(finding().title, HasSubstr(title));
  }
  void mended() {
    const auto on = ops::relay_on(store(), *admin_, settings(), kOperator);
    ASSERT_TRUE(on) << on.error().message;
    EXPECT_LE(finding().severity, Severity::info) << finding().title;
  }
  void subscribe(const std::string& handler) {
    const Subscription wanted{handler, {"*"}, std::nullopt, std::nullopt};
    ASSERT_TRUE(store().subscribe(1, std::span{&wanted, 1}, "test"));
  }
  /// The message and what to do.
  static std::string trouble_of(DeliveringProcess& process) {
    std::optional<Error> seen;
    eventually([&] { return (seen = process->trouble()).has_value(); });
    return seen->message + "; " + seen->hint;
  }
  /// Whatever the stream was like: nothing failed, and no attempt was counted.
  void expect_delivered_untouched(int events) {
    eventually([&] { return count("core.outbox where status = 'delivered'") == events; });
    EXPECT_EQ(count("core.outbox where attempts > 0"), 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Brokers, RelayStreams, testing::Values(Kind::nats), testing::PrintToStringParamName());

TEST_P(RelayStreams, OneInMemoryIsRefusedAndWhatComesAfterItsLossWaitsForABetterOne) {
  make_anew(R"("storage":"memory")");
  expect_refused("the stream SLUICE is kept in memory", "nats stream rm SLUICE");
  // Somebody has turned the switch, and changed the stream afterwards.
  turn(RelayState::on);
  expect_critical("the stream SLUICE is kept in memory");
  Journal journal;
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  journal.await("search.indexer", publish_one(store()));
  server_.stop();
  server_.start();
  publish_many(0, 10);
  EXPECT_THAT(trouble_of(*relay), HasSubstr("there is no JetStream stream SLUICE: events wait until there is one"));
  expect_critical("the stream is missing");
  EXPECT_EQ(count("core.outbox where status = 'delivered'"), 1);
  mended();
  journal.await(11);
  expect_delivered_untouched(11);
}

TEST_P(RelayStreams, OneThatDropsOldMessagesIsRefused) {
  make_anew(R"("discard":"old","max_msgs":5)");
  expect_refused("the stream SLUICE drops old messages when it is full, read or not",
                 "nats stream edit SLUICE --discard new");
  turn(RelayState::on);
  expect_critical("drops old messages when it is full");
  ask("UPDATE");
  mended();
}

TEST_P(RelayStreams, AFullOneMakesEventsWaitAndIsNamed) {
  ask("UPDATE", R"("max_msgs":2)");
  subscribe("search.indexer");
  turn(RelayState::on);
  auto relay = relaying();
  publish_many(0, 12);
  EXPECT_THAT(trouble_of(*relay), HasSubstr("SLUICE is full: it has 2 messages of at most 2; events wait"));
  expect_critical("the stream SLUICE is full: it has 2 messages of at most 2");
  EXPECT_EQ(finding().fix, "nats stream edit SLUICE --max-msgs=-1");
  EXPECT_EQ(count("core.outbox where status = 'delivered'"), 2);
  // What was handled stays in the stream: it is as full as before.
  Journal journal;
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  journal.await(2);
  EXPECT_THAT(trouble_of(*relay), HasSubstr("is full"));
  ask("UPDATE");
  journal.await(12);
  expect_delivered_untouched(12);
  mended();
}

TEST_P(RelayStreams, OneThatHasTooManyBytesSaysSoUntilItIsLarger) {
  ask("UPDATE", R"("max_bytes":3000)");
  subscribe("search.indexer");
  turn(RelayState::on);
  auto relay = relaying();
  publish_many(0, 20);
  EXPECT_THAT(trouble_of(*relay),
              testing::AllOf(HasSubstr("JetStream did not take the message: maximum bytes exceeded"),
                             HasSubstr("raise its limits")));
  ask("UPDATE");
  expect_delivered_untouched(20);
}

TEST_P(RelayStreams, OneThatDropsMessagesTooSoonIsRefusedAndNamed) {
  ask("UPDATE", R"("max_age":3600000000000,"duplicate_window":1800000000000)");
  expect_refused("the stream SLUICE drops messages after 1h, handled or not, and relay.max_age is 7d",
                 "nats stream edit SLUICE --max-age 7d");
  turn(RelayState::on);
  EXPECT_EQ(finding().severity, Severity::warning);
  EXPECT_THAT(finding().title, HasSubstr("drops messages after 1h, handled or not"));
  Journal journal;
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  publish_many(0, 10);
  journal.await(10);
  expect_delivered_untouched(10);
  ask("UPDATE");
  mended();
}

TEST_P(RelayStreams, OneThatForgetsIdsTooSoonIsNamedWhileTheRelayIsAtWork) {
  ask("UPDATE", R"("duplicate_window":120000000000)");
  turn(RelayState::on);
  expect_critical("recognises a duplicate for 2m, and a relay that dies publishes again after worker.claim_ttl, 5m");
  Journal journal;
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  publish_many(0, 10);
  journal.await(10);
  ask("UPDATE");
  mended();
  publish_many(10, 20);
  journal.await(20);
  expect_delivered_untouched(20);
}

TEST_P(RelayStreams, OneThatIsDeletedWhileTheRelayIsAtWorkIsMissedAndMadeAnew) {
  Journal journal;
  turn(RelayState::on);
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  publish_many(0, 10);
  journal.await(10);
  eventually([&] { return count("core.outbox where status = 'delivered'") == 10; });
  ask("DELETE");
  publish_many(10, 20);
  EXPECT_THAT(trouble_of(*relay), HasSubstr("there is no JetStream stream SLUICE: events wait until there is one"));
  EXPECT_THAT(trouble_of(*consumers), HasSubstr("there is no JetStream stream SLUICE"));
  expect_critical("the stream is missing");
  EXPECT_EQ(count("core.outbox where status = 'delivered'"), 10);
  mended();
  journal.await(20);
  expect_delivered_untouched(20);
  EXPECT_EQ(journal.size(), 20U) << "what was handled before the loss is not handled again";
}

TEST_P(RelayStreams, AMessageThatTheStreamFindsTooLargeIsADeadLetterUntilItsLimitIsRaised) {
  ask("UPDATE", R"("max_msg_size":2000)");
  Journal journal;
  turn(RelayState::on);
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  EnvelopeDraft draft = a_draft();
  draft.payload = R"({"text":")" + std::string(4'000, 'x') + R"("})";
  const Uuid large = publish_one(store(), an_event(draft));
  journal.await("search.indexer", publish_one(store()));
  eventually([&] { return store().get_event(large)->status == Status::failed; });
  EXPECT_THAT(store().get_event(large)->last_error.value_or(""),
              HasSubstr("the stream SLUICE takes no more than 2000 bytes: its max_msg_size"));
  ask("UPDATE");
  ASSERT_TRUE(store().replay(large, 1, kOperator));
  journal.await("search.indexer", large);
}

class RelayOnRedis : public RelayTest {};
INSTANTIATE_TEST_SUITE_P(Brokers, RelayOnRedis, testing::Values(Kind::redis), testing::PrintToStringParamName());

TEST_P(RelayOnRedis, TheDoctorSaysWhatAnAnswerIsWorth) {
  turn(RelayState::on);
  const auto of = [&](const std::vector<std::string>& redis) {
    const RedisServer server{redis};
    return finding_on(store(), *opened({.urls = {server.url()}}), {.kind = "redis"});
  };
  const auto always = of({});
  EXPECT_EQ(always.severity, Severity::ok);
  EXPECT_THAT(always.title, HasSubstr("a crash loses nothing"));
  const auto everysec = of({"--appendfsync", "everysec"});
  EXPECT_EQ(everysec.severity, Severity::info);
  EXPECT_THAT(everysec.title, HasSubstr("appendfsync is everysec: a power failure may lose the last second or two"));
  const auto no = of({"--appendfsync", "no"});
  EXPECT_EQ(no.severity, Severity::info);
  EXPECT_THAT(no.title, HasSubstr("appendfsync is no"));
  const auto off = of({"--appendonly", "no"});
  EXPECT_EQ(off.severity, Severity::critical);
  EXPECT_THAT(off.title, HasSubstr("appendonly is off"));
  // As those who run Redis for others have it.
  const auto silent = of({"--rename-command", "CONFIG", ""});
  EXPECT_EQ(silent.severity, Severity::info);
  EXPECT_THAT(silent.title, HasSubstr("does not tell whether it keeps what it answers"));
}

// An orderly stop writes what was not synced yet.
TEST_P(RelayOnRedis, WhatWasAnsweredWithEverySecondSyncsOutlivesAStop) {
  RedisServer server{{"--appendfsync", "everysec"}};
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->consume({.handler_name = "tests.reader"}));
  std::vector<broker::OutgoingMessage> messages;
  for (int i = 0; i < 200; ++i) messages.push_back({"sluice:1", "id-" + std::to_string(i), {}, "{}"});
  for (const auto& answer : broker->publish(messages, 10s, {})) ASSERT_TRUE(answer);
  server.stop();
  server.start();
  auto facts = broker->inspect();
  while (!facts) facts = broker->inspect();
  EXPECT_EQ(facts->messages, 200);
}

}  // namespace
}  // namespace sluice::test
