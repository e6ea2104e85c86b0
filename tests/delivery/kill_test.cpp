// kill -9 of a worker process at each step of a delivery, fifty times each, and a worker that stands still
// for longer than its claim lasts. The handler's effect must happen exactly once, whatever happens.
#include <csignal>
#include <random>

#include "tests/delivery/child.hpp"
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/delivery/fault_store.hpp"

namespace sluice::test {
namespace {

constexpr int kKills = 50;
constexpr std::int64_t kEvents = 400;

std::vector<std::string> worker(const FaultStore& store, const std::string& place, int number, int signal = SIGKILL) {
  return {SLUICE_FAULT_WORKER, store.address(), place, std::to_string(number), std::to_string(signal)};
}

std::vector<Uuid> publish(store::Store& store, std::int64_t count) {
  std::vector<store::NewEvent> events;
  for (std::int64_t i = 0; i < count; ++i) events.push_back(on_channel(an_event()));
  const auto published = store.publish(events);
  EXPECT_TRUE(published) << published.error().message;
  std::vector<Uuid> ids;
  for (const auto& event : events) ids.push_back(event.envelope.event_id());
  return ids;
}

void drain(FaultStore& store) {
  Child last{worker(store, "never", 1)};
  eventually(
      [&] { return store.number("select count(*) from core.outbox where status in ('pending', 'in_flight')") == 0; });
  last.close_input();
  EXPECT_EQ(last.wait(), 0);
}

struct Killed {
  std::string store;
  std::string place;
};
void PrintTo(const Killed& killed, std::ostream* out) { *out << killed.store << ' ' << killed.place; }

class KillNine : public testing::TestWithParam<Killed> {};

TEST_P(KillNine, EveryEventHasExactlyOneEffect) {
  const auto store = make_fault_store(GetParam().store);
  publish(store->store(), kEvents);
  std::mt19937 random{7};
  int killed = 0;
  for (int round = 0; round < kKills; ++round) {
    Child child{worker(*store, GetParam().place, 1 + static_cast<int>(random() % 3))};
    killed += child.wait() == -SIGKILL ? 1 : 0;
    // There must always be something to be killed over.
    if (store->number("select count(*) from core.outbox where status = 'pending'") < 50) publish(store->store(), 100);
  }
  EXPECT_EQ(killed, kKills);
  drain(*store);
  const std::int64_t events = store->number("select count(*) from core.outbox");
  EXPECT_EQ(store->number("select count(*) from core.outbox where status = 'delivered'"), events);
  EXPECT_EQ(store->number("select count(*) from effects"), events) << "none lost, none doubled";
  EXPECT_EQ(store->number("select count(distinct event_id) from effects"), events);
  EXPECT_EQ(store->number("select count(*) from core.event_handled"), events);
}

std::vector<Killed> every_place() {
  std::vector<Killed> all;
  for (const char* store : {"postgres", "sqlite"}) {
    for (const char* place : {"claimed", "in_handler", "after_effect", "before_settle", "settled"}) {
      all.push_back({store, place});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Workers, KillNine, testing::ValuesIn(every_place()),
                         [](const auto& killed) { return killed.param.store + "_" + killed.param.place; });

// SIGSTOP past the claim's time, then SIGCONT: another worker has done the work, and the first one, when it
// comes to itself, changes nothing.
// (Not on SQLite: a process that is stopped within a write holds the lock of the file.)
TEST(StandStill, ALateWorkerIsFencedAndNothingIsDoubled) {
  const auto store = make_fault_store("postgres");
  publish(store->store(), 3);
  Child late{worker(*store, "claimed", 1, SIGSTOP)};
  ASSERT_EQ(late.read_line(), "ready");
  ASSERT_TRUE(late.wait_until_stopped());
  drain(*store);
  late.signal(SIGCONT);
  late.close_input();
  const std::string counts = late.read_line();
  EXPECT_EQ(late.wait(), 0);
  EXPECT_EQ(counts, "delivered 0 fenced 3");
  EXPECT_EQ(store->number("select count(*) from effects"), 3);
  EXPECT_EQ(store->number("select count(*) from core.outbox where status = 'delivered'"), 3);
}

// The same in the middle of the handler's transaction: the server ends it when it has been idle for as long
// as a claim lasts, and the event goes to somebody else.
TEST(StandStill, AnIdleTransactionOfAStoppedWorkerIsEnded) {
  const auto store = make_fault_store("postgres");
  publish(store->store(), 1);
  Child late{worker(*store, "after_effect", 1, SIGSTOP)};
  ASSERT_EQ(late.read_line(), "ready");
  ASSERT_TRUE(late.wait_until_stopped());
  drain(*store);
  late.signal(SIGCONT);
  late.close_input();
  EXPECT_NE(late.read_line(), "");
  EXPECT_EQ(late.wait(), 0);
  EXPECT_EQ(store->number("select count(*) from effects"), 1);
}

TEST(TwoProcessesOnOneFile, EachEventHasOneEffect) {
  const auto store = make_fault_store("sqlite");
  Child first{worker(*store, "never", 1)};
  Child second{worker(*store, "never", 1)};
  ASSERT_EQ(first.read_line(), "ready");
  ASSERT_EQ(second.read_line(), "ready");
  publish(store->store(), 300);
  eventually([&] { return store->number("select count(*) from core.outbox where status = 'delivered'") == 300; });
  EXPECT_EQ(store->number("select count(*) from effects"), 300);
}

}  // namespace
}  // namespace sluice::test
