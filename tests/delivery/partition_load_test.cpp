// `sluice ladder partition`, the real command, killed and run again while three publishers and two worker processes are
// at work. With SLUICE_PARTITION_ROWS=2000000 beforehand it says what that does to publishers on a large table.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/partitions.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kHistory = R"(
  insert into core.outbox (event_type, source, target, channel, generation, payload, idempotency_key, status, claim_seq, claimed_at,
                           claimed_by, delivered_at, occurred_at, published_at)
  select 'test.happened', 'tests', 'billing', 'outbox_gen_1', 1, '{"order_id": 1}', i::text, 'delivered', 1, t.at, 'w', t.at, t.at, t.at
  from (select i, now() - interval '70 days' + i * interval '1 ms' as at from generate_series(1, )";

void keep_history(const PostgresDatabase& database, const std::string& rows) {
  SqlSession session{database.url()};
  session.must("set session_replication_role = replica;" + std::string{kHistory} + rows + ") i) t");
  session.must("vacuum analyze core.outbox");
}

std::string rows_beforehand() {
  const char* rows = std::getenv("SLUICE_PARTITION_ROWS");
  return rows ? rows : "2000";
}

/// Publishes one event per transaction, every third with an ordering key, until it is told to stop.
class Publisher {
 public:
  Publisher(const std::string& url, int number, Journal& journal)
      : store_(open_store(url)), number_(number), journal_(journal) {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }
  std::vector<Uuid> stop() {
    thread_.request_stop();
    thread_.join();
    return ids_;
  }
  [[nodiscard]] Duration longest() const { return longest_; }
  void forget_longest() { longest_ = Duration{}; }

 private:
  static constexpr std::size_t kAhead = 20;  // events that are not handled yet

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      store::NewEvent event = on_channel(an_event());
      if (ids_.size() % 3 == 0) event.ordering_key = "key" + std::to_string(number_) + std::to_string(ids_.size() % 7);
      const auto start = Clock::now();
      const auto published = store_->publish(std::span{&event, 1});
      const auto took = std::chrono::duration_cast<Duration>(Clock::now() - start);
      longest_ = std::max(longest_.load(), took);
      ASSERT_TRUE(published) << published.error().message;
      ids_.push_back(event.envelope.event_id());
      // Workers have to keep up: what is measured is the stall, not the backlog.
      if (ids_.size() > kAhead) journal_.await("tests.load", ids_[ids_.size() - kAhead]);
    }
  }

  std::unique_ptr<store::Store> store_;
  int number_;
  Journal& journal_;
  std::vector<Uuid> ids_;
  std::atomic<Duration> longest_{};
  std::jthread thread_;
};

class PartitionUnderLoad : public testing::Test {
 protected:
  void start(const PostgresDatabase& database) {
    for (const std::string name : {"w1", "w2"}) {
      auto options = patient_options(name);
      options.listener.safety_poll = 1s;
      workers_.push_back(std::make_unique<DeliveringProcess>(open_store(database.url()),
                                                             std::vector{journalling("tests.load", journal)}, options));
    }
    for (int number = 0; number < 3; ++number) {
      publishers_.push_back(std::make_unique<Publisher>(database.url(), number, journal));
    }
    go_on();
    note_usual();
  }
  void go_on() { journal.await(journal.size() + 200); }
  /// Of this while, with nothing but publishers and workers at work.
  void note_usual() {
    for (const auto& publisher : publishers_) publisher->forget_longest();
    for (int i = 0; i < 5; ++i) go_on();
    usual_ = longest();
    for (const auto& publisher : publishers_) publisher->forget_longest();
  }

  /// Everything that was published has been handled once.
  void finish(store::Store& store) {
    std::vector<Uuid> ids;
    for (const auto& publisher : publishers_) {
      const std::vector<Uuid> published = publisher->stop();
      ids.insert(ids.end(), published.begin(), published.end());
    }
    journal.await(ids.size());
    for (const auto& worker : workers_) worker->stop();
    EXPECT_EQ(journal.size(), ids.size());
    EXPECT_TRUE(
        std::all_of(ids.begin(), ids.end(), [&](const Uuid& id) { return journal.times("tests.load", id) == 1; }));
    const auto status = store.status();
    ASSERT_TRUE(status);
    for (const auto& count : status->counts) EXPECT_EQ(count.status, Status::delivered) << count.count;
    const auto ms = [](Duration time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); };
    std::cout << ids.size() << " events, longest publish " << ms(longest()) << " ms, of a thousand before it "
              << ms(usual_) << " ms\n";
  }

  Journal journal;

 private:
  [[nodiscard]] Duration longest() const {
    Duration all{};
    for (const auto& publisher : publishers_) all = std::max(all, publisher->longest());
    return all;
  }

  Duration usual_{};
  std::vector<std::unique_ptr<DeliveringProcess>> workers_;
  std::vector<std::unique_ptr<Publisher>> publishers_;
};

/// Runs the command; kill -9 when it says that it is at this step. Its exit code, or none when it was killed.
std::optional<int> ladder(const std::string& url, int kill_at) {
  int said[2];
  if (::pipe(said) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(said[1], 2);
    ::close(said[0]);
    ::execl(SLUICE_BINARY, "sluice", "ladder", "partition", "--store", url.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(said[1]);
  FILE* const lines = ::fdopen(said[0], "r");
  char line[1000];
  const std::string sign = std::to_string(kill_at) + "/4";
  while (std::fgets(line, sizeof line, lines) != nullptr) {
    std::cout << line;
    if (std::string_view{line}.find(sign) != std::string_view::npos) ::kill(child, SIGKILL);
  }
  std::fclose(lines);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}

TEST_F(PartitionUnderLoad, KilledAtEachStepNothingIsLostDoubledOrStranded) {
  const PostgresDatabase database;
  const auto store = open_store(database.url());
  if (store->partition_layout()->partitioned) GTEST_SKIP() << "it begins with one table";
  keep_history(database, rows_beforehand());
  start(database);
  for (int step = 1; step <= 4; ++step) {
    ladder(database.url(), step);
    go_on();
  }
  EXPECT_EQ(ladder(database.url(), 0), 0);
  EXPECT_TRUE(store->partition_layout()->partitioned);
  go_on();
  finish(*store);
}

TEST_F(PartitionUnderLoad, AMonthIsDropped) {
  const PostgresDatabase database;
  const auto store = open_store(database.url());
  if (store->partition_layout()->partitioned) GTEST_SKIP() << "it needs a month that is long over";
  const auto made = make_partitions(*store);
  ASSERT_TRUE(made) << made.error().message;
  keep_history(database, rows_beforehand());
  start(database);
  RetentionPolicies policies;
  policies.outbox = {std::chrono::days{5}, std::chrono::days{1}};
  bool dropped = false;
  for (int tried = 0; tried < 1000 && !dropped; ++tried) {
    const auto kept = store->keep_partitions(policies, false, {"sluice", "daemon", "retention"});
    if (!kept) {
      ASSERT_EQ(kept.error().code, ErrorCode::timeout) << kept.error().message;
    }
    dropped = kept && *kept && (*kept)->action == "dropped";
  }
  EXPECT_TRUE(dropped);
  go_on();
  finish(*store);
}

}  // namespace
}  // namespace sluice::test
