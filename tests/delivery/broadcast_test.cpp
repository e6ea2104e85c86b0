// One event, several handlers, several contexts, several processes.
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using runtime::RegisteredHandler;

class Broadcast : public testing::Test {
 protected:
  store::EventRecord event(const Uuid& id) {
    auto found = store->get_event(id);
    if (!found) throw std::runtime_error(found.error().message);
    return *std::move(found);
  }
  void await_status(const Uuid& id, Status status) {
    eventually([&] { return event(id).status == status; });
  }
  RegisteredHandler of_context(const std::string& name) {
    RegisteredHandler handler = journalling(name, journal);
    handler.subscription.context = std::string{scope_of(name)};
    return handler;
  }
  RegisteredHandler failing(const std::string& name, std::atomic<int>& calls, const std::function<void()>& thrower) {
    RegisteredHandler handler = of_context(name);
    handler.handler = [&calls, thrower](const EventEnvelope&) {
      ++calls;
      thrower();
    };
    return handler;
  }
  std::unique_ptr<DeliveringProcess> process(const std::string& identity, std::vector<RegisteredHandler> handlers) {
    return std::make_unique<DeliveringProcess>(open_store(database.url()), std::move(handlers), patient(identity));
  }
  // Nothing polls: an event that goes on to another process notifies it.
  static runtime::SupervisorOptions patient(const std::string& identity) {
    auto options = patient_options(identity);
    options.presence_interval = 20ms;
    return options;
  }

  PostgresDatabase database;
  std::unique_ptr<store::Store> store = open_store(database.url());
  Journal journal;
};

TEST_F(Broadcast, ReachesEveryContextOnce) {
  const auto worlds = process("w:1", {of_context("worlds.indexer"), of_context("worlds.counter")});
  const auto billing = process("b:1", {of_context("billing.invoice")});
  const auto memory = process("m:1", {of_context("memory.keeper")});
  std::vector<Uuid> ids;
  for (int i = 0; i < 30; ++i) ids.push_back(publish_one(*store));
  for (const Uuid& id : ids) {
    await_status(id, Status::delivered);
    for (const char* handler : {"worlds.indexer", "worlds.counter", "billing.invoice", "memory.keeper"}) {
      EXPECT_EQ(journal.times(handler, id), 1) << handler;
    }
    EXPECT_EQ(event(id).attempts, 0);
    EXPECT_EQ(store->handled(event(id))->size(), 4U);
  }
}

TEST_F(Broadcast, ATargetedEventReachesItsContextOnly) {
  const auto worlds = process("w:1", {of_context("worlds.indexer")});
  const auto billing = process("b:1", {of_context("billing.invoice")});
  EnvelopeDraft draft = a_draft();
  draft.target = "billing";
  const Uuid id = publish_one(*store, an_event(draft));
  await_status(id, Status::delivered);
  EXPECT_EQ(journal.times("billing.invoice", id), 1);
  EXPECT_EQ(journal.times("worlds.indexer", id), 0);
}

TEST_F(Broadcast, OneContextsFailingHandlerNeitherBlocksNorRepeatsAnothers) {
  std::atomic<int> calls = 0;
  const auto worlds = process("w:1", {failing("worlds.broken", calls, [] { throw std::runtime_error("no"); })});
  const auto billing = process("b:1", {of_context("billing.invoice")});
  const Uuid id = publish_one(*store);
  journal.await("billing.invoice", id);
  await_status(id, Status::failed);
  EXPECT_EQ(calls.load(), 5);
  EXPECT_EQ(journal.times("billing.invoice", id), 1);
  EXPECT_EQ(event(id).attempts, 5);
  ASSERT_EQ(event(id).progress.size(), 1U);
  EXPECT_EQ(event(id).progress[0].handler_name, "worlds.broken");
}

TEST_F(Broadcast, ATerminalFailureStillLetsTheOthersHaveTheirTry) {
  std::atomic<int> calls = 0;
  const auto worlds = process("w:1", {failing("worlds.broken", calls, [] { throw TerminalError{"never"}; })});
  const auto billing = process("b:1", {of_context("billing.invoice")});
  // Both must be known to be there.
  eventually([&] { return store->workers(1min)->size() == 2; });
  for (int i = 0; i < 10; ++i) {
    const Uuid id = publish_one(*store);
    journal.await("billing.invoice", id);
    await_status(id, Status::failed);
    EXPECT_EQ(event(id).last_error, "TerminalError: never");
  }
  EXPECT_EQ(calls.load(), 10);
}

TEST_F(Broadcast, AnAbsentContextIsWaitedFor) {
  { const auto billing = process("b:1", {of_context("billing.invoice")}); }
  const auto worlds = process("w:1", {of_context("worlds.indexer")});
  const Uuid id = publish_one(*store);
  journal.await("worlds.indexer", id);
  eventually([&] { return !event(id).progress.empty(); });
  EXPECT_EQ(event(id).status, Status::pending);
  EXPECT_EQ(event(id).progress[0].handler_name, "billing.invoice");
  const auto billing = process("b:2", {of_context("billing.invoice")});
  await_status(id, Status::delivered);
  EXPECT_EQ(journal.times("worlds.indexer", id), 1);
}

TEST_F(Broadcast, AnUnsubscribedHandlerIsWaitedForNoLonger) {
  { const auto billing = process("b:1", {of_context("billing.invoice")}); }
  const auto worlds = process("w:1", {of_context("worlds.indexer")});
  const Uuid id = publish_one(*store);
  eventually([&] { return !event(id).progress.empty(); });
  ASSERT_TRUE(store->unsubscribe(1, "billing.invoice", {"alice", "cli", "moved out"}));
  await_status(id, Status::delivered);
}

TEST_F(Broadcast, AHandlerThatIsWithdrawnElsewhereIsRegisteredAgain) {
  const auto worlds = process("w:1", {of_context("worlds.indexer")});
  ASSERT_TRUE(store->unsubscribe(1, "worlds.indexer", {"w:0", "daemon", "stopped"}));
  await_status(publish_one(*store), Status::delivered);
}

TEST_F(Broadcast, ASubscriptionCountsFromTheMomentItIsRegistered) {
  const auto worlds = process("w:1", {of_context("worlds.indexer")});
  const Uuid before = publish_one(*store);
  await_status(before, Status::delivered);
  // Registered behind the back of the running process, whose view of the registry is old by then.
  const Subscription late{"billing.invoice", {"*"}, "billing", {}};
  ASSERT_TRUE(store->subscribe(1, std::span{&late, 1}));
  const Uuid after = publish_one(*store);
  journal.await("worlds.indexer", after);
  eventually([&] { return !event(after).progress.empty(); });
  EXPECT_EQ(event(after).status, Status::pending) << "it waits for billing.invoice";
}

TEST_F(Broadcast, UnsubscribedEventsStayPendingAndAreVisible) {
  RegisteredHandler scans = of_context("worlds.indexer");
  scans.subscription.event_types = {"scan.*"};
  const auto worlds = process("w:1", {scans});
  EnvelopeDraft draft = a_draft();
  draft.event_type = "map.drawn";
  const Uuid nobody = publish_one(*store, an_event(draft));
  draft = a_draft();
  draft.event_type = "scan.completed";
  const Uuid wanted = publish_one(*store, an_event(draft));
  await_status(wanted, Status::delivered);
  EXPECT_EQ(event(nobody).status, Status::pending);
  EXPECT_EQ(event(nobody).attempts, 0);
  const auto unsubscribed = store->unsubscribed();
  ASSERT_TRUE(unsubscribed);
  ASSERT_EQ(unsubscribed->size(), 1U);
  EXPECT_EQ(unsubscribed->front().event_type, "map.drawn");
  EXPECT_EQ(unsubscribed->front().count, 1);
}

TEST_F(Broadcast, OrderingKeysAreKeptAcrossProcesses) {
  std::mutex mutex;
  std::map<std::string, std::vector<int>> seen;
  RegisteredHandler recorder = of_context("worlds.recorder");
  recorder.handler = [&](const EventEnvelope& one) {
    const std::lock_guard lock{mutex};
    seen[one.source()].push_back(one.event_version());
    journal.write("worlds.recorder", one.event_id());
  };
  const auto first = process("w:1", {recorder});
  const auto second = process("w:2", {recorder});
  constexpr int kKeys = 3;
  constexpr int kEach = 15;
  for (int number = 1; number <= kEach; ++number) {
    for (int key = 0; key < kKeys; ++key) {
      EnvelopeDraft draft = a_draft();
      draft.source = "key" + std::to_string(key);
      draft.event_version = number;
      store::NewEvent keyed = an_event(draft);
      keyed.ordering_key = draft.source;
      publish_one(*store, keyed);
    }
  }
  journal.await(kKeys * kEach);
  const std::lock_guard lock{mutex};
  for (const auto& [key, numbers] : seen) {
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end())) << key;
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(kEach));
  }
}

}  // namespace
}  // namespace sluice::test
