#include "runtime/notifier.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "runtime/service.hpp"
#include "tests/support/events.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

/// A pool that counts how often it is woken.
struct CountedPool {
  explicit CountedPool(Notifier& notifier, const std::string& type)
      : registration(notifier.add({[subscription = Subscription{"tests.pool", {type}, std::nullopt, std::nullopt}](
                                       const Route& route) { return subscription.matches(route); },
                                   [this] { ++wakes; }})) {}
  int wakes = 0;
  Notifier::Registration registration;
};

class NotifierTest : public testing::Test {
 protected:
  static std::vector<store::NewEvent> of_type(const std::string& type) { return {test::an_event(type)}; }
  static std::vector<Uuid> ids_of(const std::vector<store::NewEvent>& events) {
    std::vector<Uuid> ids;
    for (const auto& event : events) ids.push_back(event.envelope.event_id());
    return ids;
  }

  Notifier::Clock::time_point now{1h};
  Notifier notifier{kFirstGeneration, [this] { return now; }};
  CountedPool orders{notifier, "order.*"};
  CountedPool invoices{notifier, "invoice.*"};
};

TEST_F(NotifierTest, WhatNobodyKnowsWakesOneOfEachPool) {
  notifier.announce();
  notifier.heard({});
  EXPECT_EQ(orders.wakes, 2);
  EXPECT_EQ(invoices.wakes, 2);
  EXPECT_EQ(notifier.wakes(), 4U);
}

TEST_F(NotifierTest, AnEventThatIsPublishedHereWakesWhomItIsFor) {
  const auto events = of_type("order.placed");
  notifier.storing(events);
  notifier.stored(events);
  EXPECT_EQ(orders.wakes, 1);
  EXPECT_EQ(invoices.wakes, 0);
}

TEST_F(NotifierTest, ItsEchoWakesNobodyBeforeOrAfter) {
  for (const bool echo_first : {true, false}) {
    const auto events = of_type("order.placed");
    notifier.storing(events);
    if (echo_first) notifier.heard(ids_of(events));
    notifier.stored(events);
    if (!echo_first) notifier.heard(ids_of(events));
  }
  EXPECT_EQ(orders.wakes, 2);
  EXPECT_EQ(invoices.wakes, 0);
}

TEST_F(NotifierTest, AnEchoComesOnceThenItIsNews) {
  const auto events = of_type("order.placed");
  notifier.storing(events);
  notifier.stored(events);
  notifier.heard(ids_of(events));
  notifier.heard(ids_of(events));
  EXPECT_EQ(invoices.wakes, 1) << "say, it was replayed elsewhere";
}

TEST_F(NotifierTest, AnEchoThatNeverCameIsNotExpectedForLong) {
  const auto events = of_type("order.placed");
  notifier.storing(events);
  notifier.stored(events);
  now += 2s;
  notifier.heard(ids_of(events));
  EXPECT_EQ(invoices.wakes, 1);
}

TEST_F(NotifierTest, WhatWasNotStoredIsNewsWhenSomebodyElseStoresIt) {
  const auto events = of_type("order.placed");
  notifier.storing(events);
  notifier.not_stored(events);
  EXPECT_EQ(orders.wakes, 0);
  notifier.heard(ids_of(events));
  EXPECT_EQ(orders.wakes, 1);
}

TEST_F(NotifierTest, AnEventOfSomebodyElseAmongOwnOnesIsNews) {
  const auto own = of_type("order.placed");
  notifier.storing(own);
  notifier.stored(own);
  std::vector<Uuid> heard = ids_of(own);
  heard.push_back(ids_of(of_type("order.placed")).front());
  notifier.heard(heard);
  EXPECT_EQ(orders.wakes, 2);
  EXPECT_EQ(invoices.wakes, 1);
}

TEST_F(NotifierTest, AnEventOfAnotherGenerationIsForNobodyHere) {
  auto events = of_type("order.placed");
  events.front().generation = 7;
  notifier.stored(events);
  EXPECT_EQ(orders.wakes, 0);
}

TEST_F(NotifierTest, WhoIsGoneIsNotWoken) {
  orders.registration.reset();
  notifier.announce();
  EXPECT_EQ(orders.wakes, 0);
  EXPECT_EQ(invoices.wakes, 1);
}

// Every order of what a publisher and two workers in each of two pools do: publish and wake; claim, and rest if nothing
// was found. Whoever rests does so on a real signal and with time for nothing, so that a rest which is cut short is
// told from one that is not.
class WakeOrders {
 public:
  /// False: an event was left while everybody of its pool rests.
  bool nothing_is_lost(const std::vector<int>& order) {
    Notifier notifier{kFirstGeneration};
    std::array<WakeSignal, 2> signals;
    std::array<int, 2> pending{};
    struct WorkerAt {
      std::size_t pool;
      std::uint64_t seen = 0;
      enum { claims, rests, asleep } next = claims;
    };
    std::array<WorkerAt, 4> workers{{{0}, {0}, {1}, {1}}};
    std::vector<Notifier::Registration> registrations;
    for (std::size_t pool = 0; pool < 2; ++pool) {
      registrations.push_back(
          notifier.add({[](const Route&) { return true; }, [&signals, pool] { signals[pool].wake_one(); }}));
    }
    std::size_t published = 0;
    const auto step = [&](WorkerAt& worker) {
      WakeSignal& signal = signals[worker.pool];
      switch (worker.next) {
        case WorkerAt::claims:
          worker.seen = signal.count();
          worker.next = std::exchange(pending[worker.pool], 0) > 0 ? WorkerAt::claims : WorkerAt::rests;
          return;
        case WorkerAt::rests:
        case WorkerAt::asleep:
          worker.next = signal.rest({}, Duration::zero(), worker.seen) ? WorkerAt::claims : WorkerAt::asleep;
          return;
      }
    };
    for (const int who : order) {
      if (who < 4) {
        step(workers[static_cast<std::size_t>(who)]);
      } else if (published < 2) {
        ++pending[published++];
        notifier.announce();
      }
    }
    // Everybody goes on until nobody is woken any more.
    for (int round = 0; round < 4; ++round) {
      for (WorkerAt& worker : workers) step(worker);
    }
    return pending == std::array<int, 2>{};
  }
};

TEST(WakeOrders, NoWakeIsLostBetweenAnEmptyClaimAndTheRest) {
  WakeOrders orders;
  // The publisher twice, once for each pool; the workers twice, claim and rest, but for one that is late.
  std::vector<int> order{0, 0, 1, 1, 2, 2, 3, 4, 4};
  int explored = 0;
  do {
    ++explored;
    ASSERT_TRUE(orders.nothing_is_lost(order)) << testing::PrintToString(order);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(explored, 22'680);
}

}  // namespace
}  // namespace sluice::runtime
