// What goes wrong on the side of the broker: one clear sentence, and nothing is lost.
#include "ops/relay.hpp"
#include "tests/relay/relay_fixture.hpp"

namespace sluice::test {
namespace {

using store::RelayState;
using testing::HasSubstr;

class RelayBadDay : public RelayTest {
 protected:
  [[nodiscard]] ops::RelaySettings settings() const { return {.kind = kind_name(), .shards = 4, .ack_wait = 5s}; }
  /// A process that relays through this broker.
  std::unique_ptr<DeliveringProcess> relaying_to(broker::Broker& broker) {
    auto options = relaying_options("relayer");
    options.broker = terms(broker, true);
    return std::make_unique<DeliveringProcess>(open_store(database_.url()), std::vector<runtime::RegisteredHandler>{},
                                               options);
  }
  static std::string trouble_of(DeliveringProcess& process) {
    eventually([&] { return process->trouble().has_value(); });
    return process->trouble()->message;
  }
};
INSTANTIATE_TEST_SUITE_P(Brokers, RelayBadDay, testing::Values(Kind::nats, Kind::redis),
                         [](const auto& tested) { return tested.param == Kind::nats ? "nats" : "redis"; });

TEST_P(RelayBadDay, ABrokerThatIsAwayAtTheStartIsUsedWhenItComes) {
  Journal journal;
  turn(RelayState::on);
  server_.stop();
  const auto refused = ops::relay_on(store(), *admin_, settings(), kOperator);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot connect to"));
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying();
  const Uuid id = publish_one(store());
  EXPECT_THAT(trouble_of(*relay), HasSubstr("cannot connect to"));
  EXPECT_EQ(store().get_event(id)->status, Status::pending);
  server_.start();
  journal.await("search.indexer", id);
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  EXPECT_EQ(store().get_event(id)->attempts, 0);
}

TEST_P(RelayBadDay, WrongCredentialsAreSaidAndTheSwitchStaysAsItWas) {
  Server guarded{GetParam(), "authorization { user: sluice, password: hush }", {"--requirepass", "hush"}};
  const auto wrong =
      opened({.urls = {guarded.url()}, .user = GetParam() == Kind::nats ? "sluice" : "", .password = "no"});
  const auto refused = ops::relay_on(store(), *wrong, settings(), kOperator);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  EXPECT_THAT(refused.error().message, HasSubstr("refuses these credentials"));
  EXPECT_EQ(store().relay()->state, RelayState::off);

  Journal journal;
  turn(RelayState::on);
  auto consumers = consuming("consumers", {journalling("search.indexer", journal)});
  auto relay = relaying_to(*wrong);
  const Uuid id = publish_one(store());
  EXPECT_THAT(trouble_of(*relay), HasSubstr("refuses these credentials"));
  EXPECT_EQ(store().get_event(id)->status, Status::pending);
}

TEST_P(RelayBadDay, AMessageThatIsTooLargeBecomesADeadLetterThatNamesTheLimit) {
  Server narrow{GetParam(), "max_payload: 2048", {"--proto-max-bulk-len", "1048576"}};
  const auto broker = opened({.urls = {narrow.url()}});
  ASSERT_TRUE(broker->ensure({}));
  const Subscription wanted{"search.indexer", {"*"}, std::nullopt, std::nullopt};
  ASSERT_TRUE(store().subscribe(1, std::span{&wanted, 1}, "test"));
  turn(RelayState::on);
  auto relay = relaying_to(*broker);
  EnvelopeDraft draft = a_draft();
  draft.payload = R"({"text":")" + std::string(GetParam() == Kind::nats ? 4'000 : 1'200'000, 'x') + R"("})";
  store::NewEvent large = an_event();
  large.envelope = EventEnvelope::make(draft, {.payload_bytes = 2'000'000}).value();
  sql("update core.settings set value = '2000000' where key = 'payload_max_bytes'");
  const Uuid id = publish_one(store(), large);
  const Uuid small = publish_one(store());
  eventually([&] { return store().get_event(id)->status == Status::failed; });
  EXPECT_THAT(store().get_event(id)->last_error.value_or(""), HasSubstr("BrokerRefused"));
  EXPECT_THAT(store().get_event(id)->last_error.value_or(""),
              HasSubstr(GetParam() == Kind::nats ? "2048 bytes: max_payload" : "1048576: proto-max-bulk-len"));
  eventually([&] { return store().get_event(small)->status == Status::delivered; });
}

/// Settles and loses the broker's first answer.
class ForgetfulConsumer final : public broker::Consumer {
 public:
  explicit ForgetfulConsumer(std::unique_ptr<broker::Consumer> inner) : inner_(std::move(inner)) {}
  Result<std::vector<broker::IncomingMessage>> fetch(std::size_t most, Duration wait,
                                                     const std::stop_token& stop) override {
    return inner_->fetch(most, wait, stop);
  }
  std::vector<Result<void>> settle(std::span<const broker::Settlement> settlements, Duration deadline) override {
    auto answers = inner_->settle(settlements, deadline);
    if (std::exchange(lost_, true)) return answers;
    const Error lost{ErrorCode::timeout, Retry::in_doubt, "the answer was lost", {}, {}};
    return std::vector<Result<void>>(settlements.size(), lost);
  }

 private:
  std::unique_ptr<broker::Consumer> inner_;
  bool lost_ = false;
};

class ForgetfulBroker final : public broker::Broker {
 public:
  explicit ForgetfulBroker(std::unique_ptr<broker::Broker> inner) : inner_(std::move(inner)) {}
  std::vector<Result<broker::Taken>> publish(std::span<const broker::OutgoingMessage> messages, Duration deadline,
                                             const std::stop_token& stop) override {
    return inner_->publish(messages, deadline, stop);
  }
  Result<void> ensure(const broker::StreamSpec& spec) override { return inner_->ensure(spec); }
  Result<broker::BrokerFacts> inspect() override { return inner_->inspect(); }
  std::string address(std::int64_t generation, std::optional<int> shard, std::string_view type) const override {
    return inner_->address(generation, shard, type);
  }
  Result<std::unique_ptr<broker::Consumer>> consume(const broker::ConsumerSpec& spec) override {
    return std::unique_ptr<broker::Consumer>{std::make_unique<ForgetfulConsumer>(*inner_->consume(spec))};
  }

 private:
  std::unique_ptr<broker::Broker> inner_;
};

TEST_P(RelayBadDay, AnAttemptWhoseSettleIsToldTwiceIsLoggedOnce) {
  Journal journal;
  std::atomic<int> runs = 0;
  const runtime::RegisteredHandler mailer{.subscription = {.handler_name = "billing.mailer"},
                                          .handler =
                                              [&](const EventEnvelope& event) {
                                                if (++runs == 1) throw std::runtime_error("no answer");
                                                journal.write("billing.mailer", event.event_id());
                                              },
                                          .retry = quick_retry(3)};
  ASSERT_TRUE(store().subscribe(1, std::span{&mailer.subscription, 1}, "test"));
  turn(RelayState::on);
  auto relay = relaying();
  const Uuid id = publish_one(store());
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  ForgetfulBroker broker{open_broker()};
  auto options = relaying_options("consumers");
  options.broker = terms(broker, false);
  const DeliveringProcess consumers{open_store(database_.url()), {mailer}, options};
  journal.await("billing.mailer", id);
  EXPECT_EQ(count("core.attempts where outcome = 'failed'"), 1);
}

// The network cuts the consumers off from the database after it has committed what they report.
TEST_P(RelayBadDay, AnAttemptWhoseReportsAnswerWasLostIsLoggedOnce) {
  Journal journal;
  std::atomic<int> runs = 0;
  const runtime::RegisteredHandler mailer{.subscription = {.handler_name = "billing.mailer"},
                                          .handler =
                                              [&](const EventEnvelope& event) {
                                                if (++runs == 1) throw std::runtime_error("no answer");
                                                journal.write("billing.mailer", event.event_id());
                                              },
                                          .retry = quick_retry(3)};
  ASSERT_TRUE(store().subscribe(1, std::span{&mailer.subscription, 1}, "test"));
  turn(RelayState::on);
  auto relay = relaying();
  const Uuid id = publish_one(store());
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  TcpGate gate{port_of(database_.url())};
  // The name of a prepared statement follows the empty name of the portal and its final zero.
  gate.lose_answers_to(std::string{"\0relay_report_recorded", 22}, 2);
  auto options = relaying_options("consumers");
  const auto broker = open_broker();
  options.broker = terms(*broker, false);
  const DeliveringProcess consumers{open_store(with_port(database_.url(), gate.port())), {mailer}, options};
  journal.await("billing.mailer", id);
  eventually([&] { return count("core.event_handled") == 1 && gate.lost_answers() == 2; });
  EXPECT_EQ(count("core.attempts where outcome = 'failed'"), 1);
  eventually([&] { return count("core.attempts where outcome = 'handled'") > 0; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(count("core.attempts"), 2);
}

TEST_P(RelayBadDay, WithoutAStreamEventsWaitUntilThereIsOne) {
  if (GetParam() == Kind::redis) GTEST_SKIP() << "a stream of Redis comes with its first message";
  const Server bare{GetParam()};
  const auto broker = opened({.urls = {bare.url()}});
  const Subscription wanted{"search.indexer", {"*"}, std::nullopt, std::nullopt};
  ASSERT_TRUE(store().subscribe(1, std::span{&wanted, 1}, "test"));
  turn(RelayState::on);
  auto relay = relaying_to(*broker);
  const Uuid id = publish_one(store());
  EXPECT_THAT(trouble_of(*relay), HasSubstr("there is no JetStream stream SLUICE"));
  EXPECT_NE(store().get_event(id)->status, Status::delivered);
  const auto made = ops::relay_on(store(), *broker, settings(), kOperator);
  ASSERT_TRUE(made) << made.error().message;
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  EXPECT_EQ(store().get_event(id)->attempts, 0);
}

TEST_P(RelayBadDay, AStreamThatForgetsIdsTooSoonIsRefused) {
  if (GetParam() == Kind::redis) GTEST_SKIP() << "Redis has no stream before the first message";
  const Server bare{GetParam()};
  const auto broker = opened({.urls = {bare.url()}});
  ASSERT_TRUE(broker->ensure({.duplicate_window = 2min})) << "what NATS makes of a stream unless it is told";
  const auto refused = ops::relay_on(store(), *broker, settings(), kOperator);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().message,
            "the stream SLUICE recognises a duplicate for 2m, and a relay that dies publishes again after "
            "worker.claim_ttl, 5m");
  EXPECT_EQ(refused.error().hint, "nats stream edit SLUICE --dupe-window 2h");
  EXPECT_EQ(store().relay()->state, RelayState::off);
}

TEST(RelayStream, OneThatTakesOtherSubjectsIsRefused) {
  const NatsServer server;
  const auto other = opened({.urls = {server.url()}, .prefix = "SLUICE"});
  ASSERT_TRUE(other->ensure({})) << "the stream SLUICE, for subjects of its own";
  const auto broker = opened({.urls = {server.url()}});
  const auto refused = broker->ensure({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().message, "the stream SLUICE takes SLUICE.>, not sluice.>");
  EXPECT_THAT(refused.error().hint, HasSubstr("nats stream edit SLUICE"));
}

}  // namespace
}  // namespace sluice::test
