// What only NATS has: streams that are missing or small, tokens, TLS, several servers.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/broker/broker_fixture.hpp"

namespace sluice::test {
namespace {

using broker::BrokerOptions;
using broker::OutgoingMessage;
using testing::HasSubstr;

std::vector<OutgoingMessage> one_message() { return {{"sluice.3.order.paid", "id-1", {}, "{}"}}; }

TEST(NatsBroker, WithoutAStreamNothingIsTakenAndTheFixIsSaid) {
  const NatsServer server;
  const auto broker = opened({.urls = {server.url()}});
  const auto outcomes = broker->publish(one_message(), 5s, {});
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().code, ErrorCode::not_found);
  EXPECT_EQ(outcomes[0].error().retry, Retry::safe);
  EXPECT_THAT(outcomes[0].error().message, HasSubstr("no JetStream stream takes the subject sluice.3.order.paid"));
  EXPECT_THAT(outcomes[0].error().hint, HasSubstr("nats stream add"));
  EXPECT_EQ(broker->consume({.handler_name = "tests.reader"}).error().code, ErrorCode::not_found);
  EXPECT_FALSE(broker->inspect()->stream_exists);
}

TEST(NatsBroker, AmongMessagesOnlyThoseWithoutAStreamFail) {
  const NatsServer server;
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->ensure({}));
  auto messages = one_message();
  messages.push_back({"elsewhere.order", "id-2", {}, "{}"});
  messages.push_back({"sluice.3.order.paid", "id-3", {}, "{}"});
  const auto outcomes = broker->publish(messages, 5s, {});
  EXPECT_TRUE(outcomes[0]);
  ASSERT_FALSE(outcomes[1]);
  EXPECT_EQ(outcomes[1].error().code, ErrorCode::not_found);
  EXPECT_TRUE(outcomes[2]);
}

TEST(NatsBroker, AServerWithoutJetStreamIsSaid) {
  const NatsServer server{"jetstream: disabled"};
  const auto broker = opened({.urls = {server.url()}});
  const auto made = broker->ensure({});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().hint, HasSubstr("-js"));
}

TEST(NatsBroker, AStreamThatIsFullIsTriedAgain) {
  const NatsServer server;
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->ensure({.max_bytes = 2'000}));
  auto messages = one_message();
  messages[0].body = '"' + std::string(1'500, 'x') + '"';
  ASSERT_TRUE(broker->publish(messages, 5s, {})[0]);
  messages[0].id = "id-2";
  const auto full = broker->publish(messages, 5s, {});
  ASSERT_FALSE(full[0]) << "the oldest is not dropped for it: nobody has read it";
  EXPECT_EQ(full[0].error().code, ErrorCode::exhausted);
  EXPECT_EQ(full[0].error().retry, Retry::safe);
}

// In doubt it would be sent again and again, and cost the connection each time.
TEST(NatsBroker, WhetherAMessageIsTooLargeIsKnownForAllOfIt) {
  const NatsServer server{"max_payload: 2048"};
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->ensure({}));
  std::vector<OutgoingMessage> messages;
  for (std::size_t size = 1'700; size < 2'100; size += 7) {
    messages.push_back({"sluice.3.order.paid",
                        "id-" + std::to_string(size),
                        {{"Sluice-Generation", "3"}, {"Sluice-Channel", std::string(60, 'c')}},
                        std::string(size, 'x')});
  }
  const auto outcomes = broker->publish(messages, 5s, {});
  ASSERT_TRUE(outcomes.front()) << outcomes.front().error().message;
  ASSERT_FALSE(outcomes.back());
  bool taken = true;
  for (const auto& outcome : outcomes) {
    EXPECT_FALSE(outcome && !taken) << "a smaller one was refused";
    taken = outcome.has_value();
    if (taken) continue;
    EXPECT_EQ(outcome.error().retry, Retry::never) << outcome.error().message;
    EXPECT_THAT(outcome.error().message, HasSubstr("2048 bytes: max_payload"));
  }
}

TEST(NatsBroker, AMessageThatTheStreamFindsTooLargeNamesItsLimit) {
  const NatsServer server;
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_THAT(ask_jetstream(server.port(), "STREAM.CREATE.SLUICE",
                            R"({"name":"SLUICE","subjects":["sluice.>"],"storage":"file","max_msg_size":1000})"),
              testing::Not(HasSubstr("\"error\"")));
  auto messages = one_message();
  messages[0].body = std::string(2'000, 'x');
  const auto outcomes = broker->publish(messages, 5s, {});
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().retry, Retry::never);
  EXPECT_THAT(outcomes[0].error().message,
              HasSubstr("the stream SLUICE takes no more than 1000 bytes: its max_msg_size"));
}

TEST(NatsBroker, ATokenLogsIn) {
  const NatsServer server{"authorization { token: hush }"};
  EXPECT_TRUE(opened({.urls = {server.url()}, .token = "hush"})->ensure({}));
  EXPECT_EQ(opened({.urls = {server.url()}, .token = "wrong"})->ensure({}).error().code, ErrorCode::forbidden);
}

TEST(NatsBroker, AnyServerThatIsThereWillDo) {
  const NatsServer server;
  const auto broker = opened({.urls = {url_of(Kind::nats, free_port()), server.url()}});
  EXPECT_TRUE(broker->ensure({}));
}

/// Takes connections and says nothing.
class SilentServer {
 public:
  explicit SilentServer(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(socket_, 8) != 0) {
      throw std::runtime_error("the port is taken");
    }
  }
  ~SilentServer() {
    ::close(client_);
    ::close(socket_);
  }
  void accept() { client_ = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  int socket_;
  int client_ = -1;
};

TEST(NatsBroker, NobodyWaitsForAnothersAttemptToReachAServerThatIsAway) {
  const int port = free_port();
  const auto broker = opened({.urls = {url_of(Kind::nats, port)}});
  ASSERT_FALSE(broker->inspect()) << "nobody is there, which is known from here on";
  std::optional<SilentServer> silent{port};
  std::atomic<int> answers = 0;
  std::jthread first{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      static_cast<void>(broker->publish(one_message(), 1s, {}));
      ++answers;
    }
  }};
  silent->accept();
  const int before = answers;
  const auto second = broker->publish(one_message(), 1s, {});
  EXPECT_EQ(answers, before) << "the attempt of the first went on meanwhile";
  ASSERT_FALSE(second[0]);
  EXPECT_EQ(second[0].error().code, ErrorCode::unavailable);
  first.request_stop();
  silent.reset();
}

TEST(NatsBroker, SpeaksTlsToAServerThatItsAuthorityVouchesFor) {
  const TempDir folder;
  const std::string made = "cd " + folder.path().string() +
                           " && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj "
                           "/CN=bus.example.com -addext subjectAltName=DNS:bus.example.com >/dev/null 2>&1";
  ASSERT_EQ(std::system(made.c_str()), 0);
  const NatsServer server{"tls { cert_file: \"" + folder.file("cert.pem") + "\", key_file: \"" +
                          folder.file("key.pem") + "\" }"};
  const std::string url = "tls://127.0.0.1:" + std::to_string(server.port());
  BrokerOptions options{.urls = {url}, .tls_ca = folder.file("cert.pem"), .tls_server_name = "bus.example.com"};
  const auto right = opened(options)->ensure({});
  EXPECT_TRUE(right) << right.error().message;
  options.tls_server_name = "other.example.com";
  EXPECT_EQ(opened(options)->ensure({}).error().code, ErrorCode::unavailable) << "another name";
  options.tls_ca.clear();
  EXPECT_FALSE(opened(options)->ensure({})) << "an authority that nobody knows";
  EXPECT_FALSE(opened({.urls = {server.url()}})->ensure({})) << "without TLS";
}

TEST(NatsBroker, ConsumersThatWereDeletedAreSaid) {
  const NatsServer server;
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->ensure({}));
  auto reader = broker->consume({.handler_name = "tests.reader"});
  ASSERT_TRUE(reader);
  const auto unknown =
      (*reader)->settle(std::vector<broker::Settlement>{{.token = "$JS.ACK.SLUICE.none.1.1.1.1.1"}}, 2s);
  ASSERT_FALSE(unknown[0]);
  EXPECT_EQ(unknown[0].error().code, ErrorCode::not_found);
}

class NatsConsumerLost : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(broker_->ensure({}));
    auto made = broker_->consume({.handler_name = "tests.reader", .generation = 3});
    ASSERT_TRUE(made);
    reader_ = *std::move(made);
  }
  /// What the reader is told soon, in place of messages.
  Error missed() {
    for (int i = 0; i < 30; ++i) {
      if (auto fetched = reader_->fetch(10, 200ms, {}); !fetched) return fetched.error();
    }
    return {};
  }
  void ask(const std::string& request) const {
    ASSERT_THAT(ask_jetstream(server_.port(), request), testing::Not(HasSubstr("\"error\"")));
  }

  const NatsServer server_;
  std::unique_ptr<broker::Broker> broker_ = opened({.urls = {server_.url()}});
  std::unique_ptr<broker::Consumer> reader_;
};

TEST_F(NatsConsumerLost, OneThatIsDeletedWhileItIsWaitedForIsMissed) {
  ASSERT_TRUE(reader_->fetch(1, 1ms, {})) << "its request goes on for a while";
  ask("CONSUMER.DELETE.SLUICE.3_tests-reader");
  EXPECT_EQ(missed().code, ErrorCode::not_found);
}

// nats-server does not answer whoever asks a consumer that is not there.
TEST_F(NatsConsumerLost, OneThatWasDeletedBeforeIsMissedBecauseItDoesNotAnswer) {
  ask("CONSUMER.DELETE.SLUICE.3_tests-reader");
  EXPECT_EQ(missed().code, ErrorCode::not_found);
}

TEST_F(NatsConsumerLost, WithItsStreamItIsMissedToo) {
  ask("STREAM.DELETE.SLUICE");
  EXPECT_EQ(missed().code, ErrorCode::not_found);
}

TEST_F(NatsConsumerLost, OneThatHasNothingToGiveIsNotMissed) {
  for (int i = 0; i < 10; ++i) {
    const auto fetched = reader_->fetch(10, 300ms, {});
    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_TRUE(fetched->empty());
  }
  ASSERT_TRUE(broker_->publish(one_message(), 5s, {})[0]);
  EXPECT_EQ(reader_->fetch(1, 5s, {})->size(), 1U);
}

TEST(OpenBroker, RefusesWhatCannotBe) {
  using broker::open_broker;
  EXPECT_EQ(open_broker({}).error().field, "urls");
  EXPECT_EQ(open_broker({.urls = {"http://a"}}).error().field, "urls");
  EXPECT_EQ(open_broker({.urls = {"nats://a"}, .prefix = "a b"}).error().field, "prefix");
  EXPECT_EQ(open_broker({.urls = {"nats://a"}, .tls_cert = "/c.pem"}).error().field, "tls_cert");
  EXPECT_THAT(open_broker({.urls = {"rediss://a"}}).error().message, HasSubstr("no TLS for Redis"));
  EXPECT_EQ(open_broker({.urls = {"redis://a", "redis://b"}}).error().field, "url");
  for (const std::string url : {"redis://", "redis://a:x", "redis://a:70000", "redis://a/x"}) {
    EXPECT_FALSE(open_broker({.urls = {url}})) << url;
  }
  for (const std::string url : {"redis://a", "redis://:p@a:1/2", "redis://u:p@[::1]:6380"}) {
    EXPECT_TRUE(open_broker({.urls = {url}})) << url;
  }
}

}  // namespace
}  // namespace sluice::test
