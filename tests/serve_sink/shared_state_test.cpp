// Two processes' sinks in front of one receiver and one store: what one learns, the other follows, and both remember.
#include "daemon/sink_board.hpp"

#include "tests/serve_sink/sink_fixture.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::test {
namespace {

using sink::SinkState;

/// What a daemon has of one sink.
class Party {
 public:
  Party(store::Store& store, sink::HttpSinkOptions options)
      : board_({store, "host-7", {}, [this] { ++resumed; }}), sink_([&] {
          must_do(board_.set_clock());
          options.clock = board_.clock();
          return std::shared_ptr<sink::Sink>{sink::open_http_sink(std::move(options))};
        }()) {
    must_do(board_.put_up({{"shop", sink_}}, {{"shop", {"shop.invoices"}}}));
  }
  static void must_do(const Result<void>& done) { ASSERT_TRUE(done) << done.error().message; }

  /// As the daemon's handler does it.
  Verdict deliver(int number = 0) {
    const std::vector<EventEnvelope> events{numbered_event(number)};
    Verdict verdict = sink_->deliver(events, {"shop.invoices", 1, {0}, {}}).at(0);
    board_.report("shop");
    return verdict;
  }
  void sync() { must_do(board_.sync()); }
  [[nodiscard]] SinkState state() const { return sink_->status().state; }
  [[nodiscard]] Timestamp now() const { return board_.clock()(); }

  int resumed = 0;

 private:
  daemon::SinkBoard board_;
  std::shared_ptr<sink::Sink> sink_;
};

class SharedState : public HttpSinkTest {
 protected:
  store::SinkRecord record() { return must(store->sinks()).sinks.at(0); }
  static sink::HttpSinkOptions fragile(const Receiver& receiver) {
    auto options = local(receiver);
    options.breaker = {.failures = 2, .rest = 30s};
    return options;
  }

  EmbeddedStore store;
  store::Actor alice{"alice", "cli", "migrating"};
};

TEST_F(SharedState, AReceiverThatIsGoneIsGoneForAllAndAfterARestart) {
  Receiver receiver{"410\n"};
  auto first = std::make_unique<Party>(store.whole(), local(receiver));
  Party second{store.whole(), local(receiver)};
  EXPECT_EQ(first->deliver().error_class, "http_410");
  EXPECT_EQ(record().state, SinkSwitch::disabled) << "in the store before the event is settled";
  EXPECT_EQ(record().changed_by, "host-7");
  EXPECT_THAT(record().reason, testing::HasSubstr("answered 410"));
  second.sync();
  EXPECT_EQ(second.deliver().kind, Verdict::Kind::deferred);
  first.reset();
  Party again{store.whole(), local(receiver)};
  EXPECT_EQ(again.state(), SinkState::disabled);
  EXPECT_EQ(again.deliver().kind, Verdict::Kind::deferred);
  must(store->switch_sink("shop", SinkSwitch::active, alice));
  again.sync();
  EXPECT_EQ(again.resumed, 1);
  EXPECT_EQ(again.deliver().kind, Verdict::Kind::handled);
}

TEST_F(SharedState, AnOperatorsPauseReachesEverybody) {
  Receiver receiver;
  Party first{store.whole(), local(receiver)};
  Party second{store.whole(), local(receiver)};
  must(store->switch_sink("shop", SinkSwitch::paused, alice));
  for (Party* party : {&first, &second}) {
    party->sync();
    EXPECT_EQ(party->state(), SinkState::paused);
    EXPECT_EQ(party->deliver().retry_after, kStoppedSinkWait);
  }
  Party third{store.whole(), local(receiver)};
  EXPECT_EQ(third.state(), SinkState::paused);
}

TEST_F(SharedState, ACircuitThatOneOpensRestsForAllAndOneClosesIt) {
  Receiver receiver{"500\n500\n"};
  Party first{store.whole(), fragile(receiver)};
  Party second{store.whole(), fragile(receiver)};
  first.deliver();
  first.deliver();
  EXPECT_EQ(record().open_until, store.now + 30s);
  second.sync();
  EXPECT_EQ(second.state(), SinkState::open);
  EXPECT_EQ(second.deliver().kind, Verdict::Kind::deferred) << "without asking the receiver";
  Party third{store.whole(), fragile(receiver)};
  EXPECT_EQ(third.state(), SinkState::open) << "after a restart too";

  store.now += 31s;
  second.sync();  // tells it the time
  EXPECT_EQ(second.deliver().kind, Verdict::Kind::handled) << "the one try";
  EXPECT_FALSE(record().open_until);
  first.sync();
  third.sync();
  EXPECT_EQ(first.state(), SinkState::active);
  EXPECT_EQ(third.deliver().kind, Verdict::Kind::handled);
}

TEST_F(SharedState, WhatTheStoreCouldNotBeToldIsToldLater) {
  Receiver receiver{"410\n"};
  FaultyStore faulty{store.whole()};
  Party party{faulty, local(receiver)};
  faulty.fail_call(1, Fault::before, 1);
  party.deliver();
  EXPECT_EQ(record().state, SinkSwitch::active);
  EXPECT_EQ(party.state(), SinkState::disabled);
  party.sync();
  EXPECT_EQ(record().state, SinkSwitch::disabled);
  EXPECT_EQ(party.state(), SinkState::disabled);
}

TEST_F(SharedState, ASinkThatTheStoreHasForgottenIsDeclaredAgain) {
  Receiver receiver{"410\n"};
  Party party{store.whole(), local(receiver)};
  store.sql("delete from sinks");
  party.sync();
  EXPECT_EQ(record().declared.name, "shop");
  store.sql("delete from sinks");
  party.deliver();
  EXPECT_EQ(record().state, SinkSwitch::disabled);
}

// The store's clock stands months away from this machine's.
TEST_F(SharedState, TimeIsTheStoresAndNotThisMachines) {
  Receiver receiver;
  Party party{store.whole(), local(receiver)};
  EXPECT_LT(party.now() - store.now, 1h);
  ASSERT_EQ(party.deliver().kind, Verdict::Kind::handled);
  const std::string signed_at = member(member(receiver.next(), "headers"), "webhook-timestamp");
  EXPECT_LT(Timestamp{std::chrono::seconds{std::stoll(signed_at)}} - store.now, 1h);
}

}  // namespace
}  // namespace sluice::test
