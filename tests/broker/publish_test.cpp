// Publishing, to either broker, on good days and bad ones.
#include "tests/broker/broker_fixture.hpp"

namespace sluice::test {
namespace {

using broker::BrokerOptions;
using testing::HasSubstr;

class BrokerPublish : public BrokerTest {};
INSTANTIATE_TEST_SUITE_P(All, BrokerPublish, testing::Values(Kind::nats, Kind::redis),
                         testing::PrintToStringParamName());

TEST_P(BrokerPublish, CarriesEverythingThatAMessageHas) {
  const Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  publish_all(*broker, numbered(*broker, 0, 300));
  const auto reader = consume(*broker, {.max_unsettled = 300});
  const auto messages = fetch(*reader, 300);
  ASSERT_EQ(messages.size(), 300U);
  const auto& last = messages.back();
  EXPECT_EQ(last.id, "id-299");
  EXPECT_EQ(last.body, "{\"number\":299}");
  EXPECT_EQ(last.address, broker->address(3, {}, "order.paid"));
  EXPECT_EQ(broker::value_of(last.headers, "ce-type"), "order.paid");
  EXPECT_EQ(broker::value_of(last.headers, "ce-note"), "Grün 299");
  EXPECT_EQ(last.delivered, 1);
  EXPECT_EQ(last.shard, std::nullopt);
}

TEST_P(BrokerPublish, TakesAnIdOnce) {
  const Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  const auto first = publish(*broker, numbered(*broker, 0, 2));
  EXPECT_FALSE(first[0]->duplicate);
  const auto second = publish(*broker, numbered(*broker, 1, 2));
  EXPECT_TRUE(second[0]->duplicate);
  EXPECT_FALSE(second[1]->duplicate);
  const auto reader = consume(*broker);
  EXPECT_THAT(ids(fetch(*reader, 3)), testing::ElementsAre("id-0", "id-1", "id-2"));
  EXPECT_TRUE(fetch_within(*reader, 50ms).empty());
}

TEST_P(BrokerPublish, ASecondReplayIsAMessageOfItsOwn) {
  const Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  auto messages = numbered(*broker, 0, 1);
  publish_all(*broker, messages);
  messages[0].id += ".1";
  EXPECT_FALSE(publish(*broker, messages)[0]->duplicate);
}

TEST_P(BrokerPublish, ABrokerThatIsAwayMayBeAskedAgain) {
  const int port = free_port();
  const auto broker = open(url_of(kind(), port));
  const auto away = publish(*broker, numbered(*broker, 0, 2));
  ASSERT_EQ(away.size(), 2U);
  ASSERT_FALSE(away[1]);
  EXPECT_EQ(away[1].error().code, ErrorCode::unavailable);
  EXPECT_EQ(away[1].error().retry, Retry::safe);
  EXPECT_THAT(away[1].error().message, HasSubstr(std::to_string(port)));

  const Server server{kind(), "", {}, port};
  auto ready = broker->ensure({});
  while (!ready) ready = broker->ensure({});
  publish_all(*broker, numbered(*broker, 0, 2));
}

// Publishes everything until it is taken, as a relay does.
int publish_until_taken(broker::Broker& broker, std::vector<broker::OutgoingMessage> left) {
  int rounds = 0;
  while (!left.empty()) {
    ++rounds;
    const auto outcomes = broker.publish(left, 2s, {});
    std::vector<broker::OutgoingMessage> again;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (outcomes[i]) continue;
      EXPECT_NE(outcomes[i].error().retry, Retry::never) << outcomes[i].error().message;
      again.push_back(left[i]);
    }
    left = std::move(again);
  }
  return rounds;
}

TEST_P(BrokerPublish, NothingIsLostOrDoubledWhenTheServerIsKilled) {
  Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  constexpr int kCount = 4'000;
  constexpr int kPart = 200;
  std::atomic<int> published = 0;
  std::jthread publishing{[&] {
    for (int from = 0; from < kCount; from += kPart) {
      publish_until_taken(*broker, numbered(*broker, from, kPart));
      published = from + kPart;
      published.notify_all();
    }
  }};
  for (const int at : {kCount / 4, kCount / 2}) {
    for (int seen = published; seen < at; seen = published) published.wait(seen);
    server.kill();
    server.start();
  }
  publishing.join();
  const auto reader = consume(*broker, {.max_unsettled = kCount});
  const auto messages = fetch(*reader, kCount);
  const auto names = ids(messages);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCount));
  EXPECT_EQ((std::set<std::string>{names.begin(), names.end()}.size()), static_cast<std::size_t>(kCount));
  EXPECT_TRUE(fetch_within(*reader, 100ms).empty());
}

TEST_P(BrokerPublish, AnAnswerThatWasLostIsADuplicateTheNextTime) {
  const Server server{kind()};
  TcpGate gate{server.port()};
  const auto direct = open(server.url());
  ASSERT_TRUE(direct->ensure({}));
  const auto broker = open(url_of(kind(), gate.port()));
  publish_all(*broker, numbered(*broker, 0, 1));
  gate.lose_answers_to("id-7", 1);
  const auto lost = publish(*broker, numbered(*broker, 7, 1));
  ASSERT_FALSE(lost[0]);
  EXPECT_EQ(lost[0].error().retry, Retry::in_doubt) << lost[0].error().message;
  ASSERT_EQ(gate.lost_answers(), 1);
  auto again = publish(*broker, numbered(*broker, 7, 1));
  while (!again[0]) again = publish(*broker, numbered(*broker, 7, 1));
  EXPECT_TRUE(again[0]->duplicate);
  const auto reader = consume(*direct);
  EXPECT_THAT(ids(fetch(*reader, 2)), testing::ElementsAre("id-0", "id-7"));
  EXPECT_TRUE(fetch_within(*reader, 50ms).empty());
}

TEST_P(BrokerPublish, TooLargeIsForGoodAndNamesTheLimit) {
  const Server server{kind(), "max_payload: 1048576", {"--proto-max-bulk-len", "1mb"}};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  auto messages = numbered(*broker, 0, 3);
  messages[1].body = '"' + std::string(1'100'000, 'x') + '"';
  const auto outcomes = publish(*broker, messages);
  EXPECT_TRUE(outcomes[0]) << outcomes[0].error().message;
  EXPECT_TRUE(outcomes[2]) << "its neighbours are not to blame: " << outcomes[2].error().message;
  ASSERT_FALSE(outcomes[1]);
  EXPECT_EQ(outcomes[1].error().retry, Retry::never);
  EXPECT_EQ(outcomes[1].error().code, ErrorCode::invalid);
  EXPECT_THAT(outcomes[1].error().message, HasSubstr("1048576"));
}

TEST_P(BrokerPublish, WrongCredentialsAreSaidAndMayBeMended) {
  const Server server{kind(), "authorization { user: sluice, password: hush }", {"--requirepass", "hush"}};
  BrokerOptions options{.urls = {server.url()}};
  if (kind() == Kind::nats) options.user = "sluice";
  options.password = "wrong";
  const auto broker = opened(options);
  const auto outcomes = publish(*broker, numbered(*broker, 0, 1));
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().code, ErrorCode::forbidden);
  EXPECT_EQ(outcomes[0].error().retry, Retry::safe);
  EXPECT_THAT(outcomes[0].error().message, HasSubstr("credentials"));
  EXPECT_THAT(outcomes[0].error().message, testing::Not(HasSubstr("wrong")));
  options.password = "hush";
  const auto right = opened(options);
  ASSERT_TRUE(right->ensure({}));
  publish_all(*right, numbered(*right, 0, 1));
}

TEST_P(BrokerPublish, ABadAddressIsForGood) {
  const Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  auto messages = numbered(*broker, 0, 1);
  messages[0].address = kind() == Kind::nats ? "sluice.3.two words" : "";
  const auto outcomes = publish(*broker, messages);
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().retry, Retry::never);
}

TEST_P(BrokerPublish, SeveralThreadsPublishAtOnce) {
  const Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] { publish_all(*broker, numbered(*broker, t * 100, 100)); });
    }
  }
  const auto reader = consume(*broker, {.max_unsettled = 400});
  EXPECT_EQ(fetch(*reader, 400).size(), 400U);
}

TEST_P(BrokerPublish, LooksAtWhatStandsThere) {
  const Server server{kind()};
  const auto broker = open(server.url());
  ASSERT_TRUE(broker->ensure({}));
  ASSERT_TRUE(broker->ensure({})) << "a second time changes nothing";
  publish_all(*broker, numbered(*broker, 0, 5));
  const auto reader = consume(*broker);
  const auto taken = fetch(*reader, 2);
  const auto facts = broker->inspect();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->stream_exists);
  EXPECT_EQ(facts->messages, 5);
  EXPECT_THAT(facts->server, HasSubstr(std::to_string(server.port())));
  ASSERT_EQ(facts->consumers.size(), 1U);
  EXPECT_EQ(facts->consumers[0].unsettled + facts->consumers[0].waiting, 5);
  EXPECT_GE(facts->consumers[0].unsettled, 2);
  EXPECT_EQ(facts->consumers[0].handler_name, "tests.reader");
  EXPECT_EQ(facts->consumers[0].generation, 3);
  EXPECT_FALSE(worth_of_answer(*facts).empty());
}

}  // namespace
}  // namespace sluice::test
