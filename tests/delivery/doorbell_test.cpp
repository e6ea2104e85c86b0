// Notifying only when everybody is idle: no wake-up may be lost. Nothing polls in these tests, so an event
// whose notification is lost is never handled and the test never ends.
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

class Doorbell : public testing::Test {
 protected:
  void SetUp() override {
    const auto set = publisher->set_doorbell(store::DoorbellMode::when_idle, {"tests", "cli", "test"});
    ASSERT_TRUE(set) << set.error().message;
  }

  PostgresDatabase database;
  std::unique_ptr<store::Store> publisher = open_store(database.url());
  Journal journal;
};

TEST_F(Doorbell, ASleeperIsRung) {
  std::atomic<int> sleeps = 0;
  DeliveringProcess process{
      open_store(database.url(), [&](std::string_view step) { sleeps += step == "asleep" ? 1 : 0; }),
      {journalling("tests.journal", journal)},
      patient_options("p:1")};
  for (int round = 1; round <= 20; ++round) {
    eventually([&] { return sleeps.load() >= round; });
    journal.await("tests.journal", publish_one(*publisher));
  }
}

// At each step of the way to sleep, an event is published on the spot, while the worker stands still.
class PublishedAtEachStep : public Doorbell, public testing::WithParamInterface<std::string> {};

TEST_P(PublishedAtEachStep, IsHandled) {
  constexpr std::size_t kTimes = 25;
  std::mutex mutex;
  std::set<Uuid> published;
  const auto publish_here = [&](std::string_view step) {
    const std::lock_guard lock{mutex};
    if (step == GetParam() && published.size() < kTimes) published.insert(publish_one(*publisher));
  };
  const auto published_so_far = [&] {
    const std::lock_guard lock{mutex};
    return published;
  };
  DeliveringProcess process{
      open_store(database.url(), publish_here), {journalling("tests.journal", journal)}, patient_options("p:1")};
  // An event wakes an idle worker, which takes the steps anew. One that is found by a claim on the way to sleep may be
  // handled before the worker hears of it and wakes nobody: then it takes another one.
  while (published_so_far().size() < kTimes) journal.await("tests.journal", publish_one(*publisher));
  for (const Uuid& id : published_so_far()) {
    journal.await("tests.journal", id);
    EXPECT_EQ(journal.times("tests.journal", id), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Doorbell, PublishedAtEachStep, testing::Values("requested", "last", "asleep"),
                         [](const auto& step) { return step.param; });

TEST_F(Doorbell, ALongPublisherTransactionMakesNobodyDeaf) {
  std::atomic<int> waits = 0;
  std::atomic<int> sleeps = 0;
  SqlSession slow{database.url()};
  slow.must("begin");
  slow.must(
      "select core.outbox_publish('tests.slow', p_source => 'tests', p_event_id => "
      "'01890a5d-ac96-774b-bcce-b302099a8057')");
  DeliveringProcess process{open_store(database.url(),
                                       [&](std::string_view step) {
                                         waits += step == "bell" ? 1 : 0;
                                         sleeps += step == "asleep" ? 1 : 0;
                                       }),
                            {journalling("tests.journal", journal)},
                            patient_options("p:1")};
  eventually([&] { return waits.load() > 3; });
  for (int i = 0; i < 5; ++i) journal.await("tests.journal", publish_one(*publisher));
  EXPECT_EQ(sleeps.load(), 0) << "nobody may sleep while an event that did not notify is not yet visible";
  slow.must("commit");
  journal.await("tests.journal", *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057"));
  eventually([&] { return sleeps.load() > 0; });
  journal.await("tests.journal", publish_one(*publisher));
}

TEST_F(Doorbell, ThreeWorkersAndFourPublishersLoseNoWakeUp) {
  std::atomic<int> sleeps = 0;
  const auto count_sleeps = [&](std::string_view step) { sleeps += step == "asleep" ? 1 : 0; };
  std::vector<std::unique_ptr<DeliveringProcess>> processes;
  for (int i = 0; i < 3; ++i) {
    processes.push_back(std::make_unique<DeliveringProcess>(
        open_store(database.url(), count_sleeps),
        std::vector<runtime::RegisteredHandler>{journalling("tests.journal", journal)},
        patient_options("p:" + std::to_string(i))));
  }
  constexpr int kPublishers = 4;
  constexpr int kEach = 60;
  std::vector<std::jthread> publishers;
  for (int number = 0; number < kPublishers; ++number) {
    publishers.emplace_back([&, number] {
      std::mt19937 random{static_cast<unsigned>(number)};
      SqlSession session{database.url()};
      for (int i = 0; i < kEach; ++i) {
        session.must("begin");
        session.must("select core.outbox_publish('tests.happened', p_source => 'tests')");
        // Some transactions stay open for a while after their insert, some for no time at all.
        for (auto trips = random() % 200; trips > 0; --trips) session.must("select 1");
        session.must(random() % 5 == 0 ? "rollback; select core.outbox_publish('tests.happened', p_source => 'tests')"
                                       : "commit");
      }
    });
  }
  journal.await(kPublishers * kEach);
  EXPECT_GT(sleeps.load(), 0);
}

TEST_F(Doorbell, ACrashedIdleWorkerLeavesTheLockToTheNext) {
  std::atomic<int> sleeps = 0;
  const auto count_sleeps = [&](std::string_view step) { sleeps += step == "asleep" ? 1 : 0; };
  DeliveringProcess first{
      open_store(database.url(), count_sleeps), {journalling("tests.journal", journal)}, patient_options("p:1")};
  eventually([&] { return sleeps.load() >= 1; });
  DeliveringProcess second{
      open_store(database.url(), count_sleeps), {journalling("tests.journal", journal)}, patient_options("p:2")};
  SqlSession operator_session{database.url()};
  // Every listener's connections end, those with the locks among them.
  operator_session.must(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name "
      "like '%listener'");
  for (int i = 0; i < 5; ++i) journal.await("tests.journal", publish_one(*publisher));
}

TEST_F(Doorbell, PublishersDoNotRingWhileSomebodyIsAwake) {
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  SqlSession session{database.url()};
  // Nobody sleeps: nobody is notified. The second channel is the control.
  session.must("select core.outbox_publish('tests.happened', p_source => 'tests')");
  session.must("select pg_notify('outbox_gen_1', 'by hand')");
  const auto heard = listener.wait_notification();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->payload, "by hand") << "the publish did not notify";
}

}  // namespace
}  // namespace sluice::test
