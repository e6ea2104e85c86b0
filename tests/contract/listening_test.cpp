#include <future>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::DoorbellMode;
using store::Heard;
using store::ListenerConnection;
using testing::SizeIs;

constexpr const char* kChannel = "outbox_gen_1";
/// Far beyond what any wake-up takes: a wait that lasts so long has heard nothing.
constexpr Duration kLong = 1min;

class ListeningContract : public StoreContract {
 protected:
  std::unique_ptr<ListenerConnection> listen(const std::string& channel = kChannel) {
    return must(store().listen({channel}));
  }
  static std::vector<NewEvent> one_event(const std::string& channel = kChannel) {
    NewEvent event = an_event();
    event.channel = channel;
    return {event};
  }
};
SLUICE_OVER_EVERY_STORE(ListeningContract);

TEST_P(ListeningContract, APublishRings) {
  const auto listener = listen();
  publish(one_event());
  EXPECT_EQ(must(listener->wait(kLong)), Heard::notification);
}

TEST_P(ListeningContract, APublishThroughAnotherStoreRings) {
  const auto listener = listen();
  must(second_store()->publish(one_event()));
  EXPECT_EQ(must(listener->wait(kLong)), Heard::notification);
}

TEST_P(ListeningContract, ACommitPastTheStoreRings) {
  const auto listener = listen();
  raw_sql(
      "insert into {outbox} (event_type, source, generation, channel, payload) "
      "values ('a.b', 'tests', 1, 'outbox_gen_1', '{}')");
  EXPECT_EQ(must(listener->wait(kLong)), Heard::notification);
}

TEST_P(ListeningContract, ASleeperIsWoken) {
  const auto listener = listen();
  auto heard = std::async(std::launch::async, [&] { return must(listener->wait(kLong)); });
  publish(one_event());
  EXPECT_EQ(heard.get(), Heard::notification);
}

TEST_P(ListeningContract, EveryListenerHearsIt) {
  const auto first = listen();
  const auto second = listen();
  publish(one_event());
  EXPECT_EQ(must(first->wait(kLong)), Heard::notification);
  EXPECT_EQ(must(second->wait(kLong)), Heard::notification);
}

TEST_P(ListeningContract, NothingHappensNothingIsHeard) {
  const auto listener = listen();
  EXPECT_EQ(must(listener->wait(0s)), Heard::nothing);
}

TEST_P(ListeningContract, AProbeComesBack) {
  const auto listener = listen();
  must(listener->probe());
  EXPECT_EQ(must(listener->wait(kLong)), Heard::echo);
}

// On a busy database the two arrive together. A probe that is not told of makes a listener deaf that is not.
TEST_P(ListeningContract, AProbeComesBackAmongNotifications) {
  const auto listener = listen();
  for (int round = 1; round <= 20; ++round) {
    publish(one_event());
    must(listener->probe());
    publish(one_event());
    bool echo = false;
    bool notification = false;
    while (!echo || !notification) {
      const Heard heard = must(listener->wait(kLong));
      ASSERT_NE(heard, Heard::nothing) << "round " << round << (echo ? ": no notification" : ": no echo");
      echo = echo || heard == Heard::echo;
      notification = notification || heard == Heard::notification;
    }
    while (must(listener->wait(0s)) != Heard::nothing) {
    }
  }
}

TEST_P(ListeningContract, AProbeOfOneListenerIsNotHeardByAnother) {
  const auto first = listen();
  const auto second = listen();
  must(first->probe());
  must(second->probe());
  EXPECT_EQ(must(first->wait(kLong)), Heard::echo);
  EXPECT_EQ(must(second->wait(kLong)), Heard::echo);
  EXPECT_EQ(must(first->wait(0s)), Heard::nothing);
}

TEST_P(ListeningContract, OtherChannelsAreHeardOnlyWhereThereIsOneForAll) {
  const auto listener = listen();
  publish(one_event("outbox_gen_2"));
  must(listener->probe());
  // The probe was sent later: had the publish been heard, it would come first.
  EXPECT_EQ(must(listener->wait(kLong)), store().capabilities().listen ? Heard::echo : Heard::notification);
}

TEST_P(ListeningContract, AnInterruptEndsTheWait) {
  const auto listener = listen();
  auto heard = std::async(std::launch::async, [&] { return must(listener->wait(1h)); });
  listener->interrupt();
  EXPECT_EQ(heard.get(), Heard::nothing);
}

TEST_P(ListeningContract, AListenerThatIsDroppedLeavesTheOthersAlone) {
  const auto listener = listen();
  listen().reset();
  publish(one_event());
  EXPECT_EQ(must(listener->wait(kLong)), Heard::notification);
}

TEST_P(ListeningContract, NothingStandsBetweenUsAndTheDatabase) { EXPECT_EQ(listen()->obstacle(), ""); }

TEST_P(ListeningContract, TheDoorbellAlwaysRingsUnlessToldOtherwise) {
  EXPECT_EQ(must(store().doorbell()), DoorbellMode::always);
}

TEST_P(ListeningContract, TheModeOfTheDoorbellIsKeptAndAuditedWhereThereIsOne) {
  const auto changed = store().set_doorbell(DoorbellMode::when_idle, operator_alice());
  if (!store().capabilities().listen) {
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().code, ErrorCode::invalid);
    EXPECT_EQ(must(store().doorbell()), DoorbellMode::always);
    return;
  }
  must(changed);
  EXPECT_EQ(must(second_store()->doorbell()), DoorbellMode::when_idle);
  EXPECT_THAT(raw_sql("select 1 from {audit} where actor = 'alice@example.com'"), SizeIs(1));
  must(store().set_doorbell(DoorbellMode::always, operator_alice()));
  EXPECT_EQ(must(second_store()->doorbell()), DoorbellMode::always);
}

}  // namespace
}  // namespace sluice::contract
