// Consuming, from either broker: what comes, when it comes again, and in which order.
#include "tests/broker/broker_fixture.hpp"

namespace sluice::test {
namespace {

using broker::Settlement;
using testing::ElementsAre;

class BrokerConsume : public BrokerTest {
 protected:
  void SetUp() override { ASSERT_TRUE(broker->ensure({})); }
  Server server{kind()};
  std::unique_ptr<broker::Broker> broker = open(server.url());
};
INSTANTIATE_TEST_SUITE_P(All, BrokerConsume, testing::Values(Kind::nats, Kind::redis),
                         testing::PrintToStringParamName());

TEST_P(BrokerConsume, WhatIsDoneNeverComesAgain) {
  publish_all(*broker, numbered(*broker, 0, 3));
  auto reader = consume(*broker, {.ack_wait = 300ms});
  settle(*reader, fetch(*reader, 3));
  EXPECT_TRUE(fetch_within(*reader, 700ms).empty());
  reader = consume(*broker, {.ack_wait = 300ms});
  EXPECT_TRUE(fetch_within(*reader, 100ms).empty()) << "the consumer is durable";
}

TEST_P(BrokerConsume, EveryHandlerGetsAll) {
  publish_all(*broker, numbered(*broker, 0, 2));
  const auto one = consume(*broker, {.handler_name = "tests.one"});
  const auto two = consume(*broker, {.handler_name = "tests.two"});
  EXPECT_EQ(fetch(*one, 2).size(), 2U);
  EXPECT_EQ(fetch(*two, 2).size(), 2U);
}

TEST_P(BrokerConsume, WhatIsNotSettledComesAgainAndIsCounted) {
  publish_all(*broker, numbered(*broker, 0, 1));
  auto reader = consume(*broker, {.ack_wait = 300ms});
  ASSERT_EQ(fetch(*reader, 1).at(0).delivered, 1);
  reader.reset();
  reader = consume(*broker, {.ack_wait = 300ms});
  const auto again = fetch(*reader, 1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].delivered, 2);
  settle(*reader, again);
}

TEST_P(BrokerConsume, ProgressKeepsAMessageHere) {
  publish_all(*broker, numbered(*broker, 0, 1));
  const auto reader = consume(*broker, {.ack_wait = 600ms});
  const auto held = fetch(*reader, 1);
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(fetch_within(*reader, 200ms).empty()) << "twice the time that it has without a word";
    settle(*reader, held, Settlement::What::progress);
  }
  settle(*reader, held);
}

TEST_P(BrokerConsume, ARetryComesWhenItIsDue) {
  publish_all(*broker, numbered(*broker, 0, 1));
  const auto reader = consume(*broker, {.ack_wait = 10s});
  const auto began = std::chrono::steady_clock::now();
  settle(*reader, fetch(*reader, 1), Settlement::What::retry, 400ms);
  const auto again = fetch(*reader, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 400ms);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].delivered, 2);
  settle(*reader, again, Settlement::What::retry);
  const auto third = fetch(*reader, 1);
  ASSERT_EQ(third.size(), 1U);
  EXPECT_EQ(third[0].delivered, 3);
}

TEST_P(BrokerConsume, ARetryAndItsCountOutliveTheServer) {
  publish_all(*broker, numbered(*broker, 0, 2));
  auto reader = consume(*broker, {.ack_wait = 2s});
  auto held = fetch(*reader, 2);
  ASSERT_EQ(held.size(), 2U);
  settle(*reader, {held[0]});
  settle(*reader, {held[1]}, Settlement::What::retry);
  held = fetch(*reader, 1);
  ASSERT_EQ(held.at(0).delivered, 2);
  settle(*reader, held, Settlement::What::retry, 1500ms);
  // A nats-server alone writes what was settled a moment later: a crash may hand it out again, an orderly end does not.
  kind() == Kind::nats ? server.stop() : server.kill();
  server.start();
  auto again = reader->fetch(1, 5s, {});
  while (!again || again->empty()) again = reader->fetch(1, 5s, {});
  EXPECT_THAT(ids(*again), ElementsAre("id-1"));
  EXPECT_GE(again->at(0).delivered, 2) << "a restart does not begin the count anew";
}

TEST_P(BrokerConsume, NoMoreAreUnderWayThanAllowed) {
  publish_all(*broker, numbered(*broker, 0, 5));
  const auto one = consume(*broker, {.max_unsettled = 2});
  const auto two = consume(*broker, {.max_unsettled = 2});
  const auto held = fetch(*one, 2);
  ASSERT_EQ(held.size(), 2U);
  EXPECT_TRUE(fetch_within(*two, 200ms).empty()) << "among all processes";
  settle(*one, {held[0]});
  EXPECT_EQ(fetch(*two, 1).size(), 1U);
}

TEST_P(BrokerConsume, AShardGoesOneByOneInOrderAmongAll) {
  publish_all(*broker, numbered(*broker, 0, 3, 1));
  publish_all(*broker, numbered(*broker, 10, 2, 0));
  const auto one = consume(*broker, {.shards = 2});
  const auto two = consume(*broker, {.shards = 2});
  auto held = fetch(*one, 2);
  ASSERT_EQ(held.size(), 2U);
  std::sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.shard < b.shard; });
  EXPECT_THAT(ids(held), ElementsAre("id-10", "id-0"));
  EXPECT_EQ(held[1].shard, 1);
  EXPECT_TRUE(fetch_within(*two, 200ms).empty());
  settle(*one, {held[1]}, Settlement::What::retry, 300ms);
  EXPECT_TRUE(fetch_within(*two, 100ms).empty()) << "a retry holds up its shard";
  auto next = fetch(*two, 1);
  if (next.empty()) next = fetch(*one, 1);
  EXPECT_THAT(ids(next), ElementsAre("id-0"));
}

TEST_P(BrokerConsume, AShardGoesOnWhenItsMessageIsDone) {
  publish_all(*broker, numbered(*broker, 0, 20, 4));
  const auto reader = consume(*broker, {.shards = 8});
  for (int i = 0; i < 20; ++i) {
    const auto next = fetch(*reader, 1);
    ASSERT_THAT(ids(next), ElementsAre("id-" + std::to_string(i)));
    settle(*reader, next);
  }
}

TEST_P(BrokerConsume, OtherGenerationsAreForOthers) {
  auto messages = numbered(*broker, 0, 1);
  messages[0].address = broker->address(4, {}, "order.paid");
  publish_all(*broker, messages);
  const auto reader = consume(*broker);
  EXPECT_TRUE(fetch_within(*reader, 100ms).empty());
}

TEST_P(BrokerConsume, WhatAHandlerWantsComesWhateverElseDoes) {
  publish_all(*broker, numbered(*broker, 0, 2, {}, "order.paid"));
  publish_all(*broker, numbered(*broker, 2, 2, {}, "scan.done"));
  for (const std::vector<std::string>& wanted :
       {std::vector<std::string>{"order.*"}, {"order.paid"}, {"order.p*"}, {"order.paid", "none.such"}, {"*"}}) {
    const auto reader =
        consume(*broker, {.handler_name = "tests." + std::to_string(wanted[0].size()) + "x" +
                                          std::to_string(wanted.size()) + (wanted[0][0] == '*' ? "a" : "b"),
                          .event_types = wanted});
    const auto came = ids(fetch(*reader, 2));
    EXPECT_THAT(came, ElementsAre("id-0", "id-1")) << wanted[0];
  }
}

TEST_P(BrokerConsume, AMessageWakesAReaderThatWaits) {
  const auto reader = consume(*broker);
  std::jthread late{[&] { publish_all(*broker, numbered(*broker, 0, 1)); }};
  EXPECT_EQ(reader->fetch(10, 20s, {})->size(), 1U);
}

TEST_P(BrokerConsume, AStopEndsTheWait) {
  const auto reader = consume(*broker);
  std::stop_source stop;
  std::jthread stopping{[&] { stop.request_stop(); }};
  const auto none = reader->fetch(1, 1h, stop.get_token());
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST_P(BrokerConsume, ABrokerThatGoesAwayIsSaid) {
  const auto reader = consume(*broker);
  ASSERT_TRUE(fetch_within(*reader, 10ms).empty());
  server.kill();
  auto gone = reader->fetch(1, 1s, {});
  while (gone) gone = reader->fetch(1, 1s, {});
  EXPECT_EQ(gone.error().code, ErrorCode::unavailable) << gone.error().message;
  EXPECT_EQ(gone.error().retry, Retry::safe);
  server.start();
  publish_all(*open(server.url()), numbered(*broker, 0, 1));
  auto back = reader->fetch(1, 1s, {});
  while (!back || back->empty()) back = reader->fetch(1, 1s, {});
  EXPECT_EQ(back->at(0).id, "id-0");
}

}  // namespace
}  // namespace sluice::test
