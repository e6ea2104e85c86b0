// The listener against real failures: a dead socket, a pooler, a server that crashes.
#include <cstdlib>
#include <fstream>

#include "tests/delivery/child.hpp"
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/tcp_gate.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {
namespace {

using runtime::ListenerState;

/// The same proportions as in production, in less time.
runtime::ListenerTimes quick_times() {
  runtime::ListenerTimes times;
  times.poll = 20ms;
  times.safety_poll = kNever;
  times.reconnect = {10ms, 300ms};
  times.probe_interval = 100ms;
  times.probe_deadline = 200ms;
  return times;
}

TEST(ListenerFaults, StartupDrain) {
  const PostgresDatabase database;
  const auto publisher = open_store(database.url());
  std::vector<Uuid> before;
  for (int i = 0; i < 25; ++i) before.push_back(publish_one(*publisher));
  Journal journal;
  DeliveringProcess process{
      open_store(database.url()), {journalling("tests.journal", journal)}, patient_options("p:1")};
  for (const Uuid& id : before) journal.await("tests.journal", id);
}

TEST(ListenerFaults, ANotifyWakesWithoutAnyPoll) {
  const PostgresDatabase database;
  const auto publisher = open_store(database.url());
  Journal journal;
  DeliveringProcess process{
      open_store(database.url()), {journalling("tests.journal", journal)}, patient_options("p:1")};
  eventually([&] { return process->listener_state() == ListenerState::listening; });
  for (int i = 0; i < 20; ++i) journal.await("tests.journal", publish_one(*publisher));
  EXPECT_GT(process->listener_counts().notifications, 0);
}

// As the README shows it: without a channel.
TEST(ListenerFaults, APlainInsertWakesWithoutAnyPoll) {
  const PostgresDatabase database;
  Journal journal;
  DeliveringProcess process{
      open_store(database.url()), {journalling("tests.journal", journal)}, patient_options("p:1")};
  eventually([&] { return process->listener_state() == ListenerState::listening; });
  SqlSession session{database.url()};
  for (int i = 0; i < 5; ++i) {
    const auto id = session.must(
        "insert into core.outbox (event_type, source, generation, payload) values ('test.plain', 'tests', 1, '{}') "
        "returning id");
    journal.await("tests.journal", Uuid::parse(id.value(), "id").value());
  }
}

// A gigabyte of digits: the server cannot even write it. It got in past the triggers; everything else is delivered, and
// it becomes a dead letter that says why.
TEST(ListenerFaults, APayloadThatCannotBeWrittenBecomesADeadLetter) {
  const PostgresDatabase database;
  const auto publisher = open_store(database.url());
  SqlSession session{database.url()};
  session.must(
      "set session_replication_role = replica; insert into core.outbox (event_type, source, generation, payload, "
      "idempotency_key, channel) values ('test.bomb', 'tests', 1, ('{\"a\":[' || repeat('1e99999,', 12000) || "
      "'1]}')::jsonb, 'bomb', 'outbox_gen_1'); set session_replication_role = origin");
  std::vector<Uuid> good;
  for (int i = 0; i < 50; ++i) good.push_back(publish_one(*publisher, i % 2 == 0 ? an_event() : a_keyed_event("k")));
  Journal journal;
  auto options = patient_options("p:1");
  options.workers = 2;
  std::atomic<int> told = 0;
  options.on_failed = [&](const FailureNotice& notice) { told += notice.error_class == "PayloadError" ? 1 : 0; };
  DeliveringProcess process{open_store(database.url()), {journalling("tests.journal", journal)}, options};
  for (const Uuid& id : good) journal.await("tests.journal", id);
  const auto dead = [&] { return session.must("select last_error from core.outbox where status = 'failed'").value(); };
  eventually([&] { return !dead().empty(); });
  EXPECT_EQ(dead(), "PayloadError: payload has more than the 67108864 bytes that can be read");
  process.stop();
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(process->trouble());
}

TEST(ListenerFaults, ABlackHoledSocketIsNoticedAndTheBacklogDrainsMeanwhile) {
  const PostgresDatabase database;
  const auto publisher = open_store(database.url());
  TcpGate gate{port_of(database.url())};
  Journal journal;
  auto options = patient_options("p:1");
  options.listener = quick_times();
  DeliveringProcess process{
      open_store(with_port(database.url(), gate.port())), {journalling("tests.journal", journal)}, options};
  eventually([&] { return process->listener_state() == ListenerState::listening; });
  journal.await("tests.journal", publish_one(*publisher));

  gate.swallow_listeners();
  ASSERT_GE(gate.swallowed(), 1);
  eventually([&] { return process->listener_counts().deaf >= 1; });
  journal.await("tests.journal", publish_one(*publisher));
  // A new connection is not swallowed: it listens again.
  eventually([&] { return process->listener_state() == ListenerState::listening; });
  journal.await("tests.journal", publish_one(*publisher));
}

TEST(ListenerFaults, TerminatedBackendsAreReplaced) {
  const PostgresDatabase database;
  const auto publisher = open_store(database.url());
  Journal journal;
  auto options = patient_options("p:1");
  options.listener = quick_times();
  DeliveringProcess process{open_store(database.url()), {journalling("tests.journal", journal)}, options};
  SqlSession session{database.url()};
  for (int round = 0; round < 5; ++round) {
    eventually([&] { return process->listener_state() == ListenerState::listening; });
    session.must(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where datname = current_database() and application_name = 'sluice listener'");
    journal.await("tests.journal", publish_one(*publisher));
  }
}

/// A real PgBouncer in transaction mode: each transaction may get another server connection.
class TransactionPooler {
 public:
  explicit TransactionPooler(const PostgresDatabase& database) {
    const int port = free_port();
    std::ofstream{folder_.file("pgbouncer.ini")}
        << "[databases]\n"
        << database.name() << " = host=127.0.0.1 port=" << port_of(database.url())
        << " user=sluice password=sluice pool_size=5\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port
        << "\nauth_type = any\npool_mode = transaction\nunix_socket_dir =\nserver_reset_query =\n"
        << "ignore_startup_parameters = extra_float_digits\nlogfile = " << folder_.file("log") << "\n";
    std::vector<std::string> words{"/usr/sbin/pgbouncer", "-q", folder_.file("pgbouncer.ini")};
    if (::geteuid() == 0) {
      const std::string path = folder_.path().string();
      EXPECT_EQ(std::system(("chmod 777 " + path + " && chown -R nobody " + path).c_str()), 0);
      words = {"/usr/sbin/pgbouncer", "-q", "-u", "nobody", folder_.file("pgbouncer.ini")};
    }
    pooler_.emplace(words);
    url_ = with_port(database.url(), port);
  }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  TempDir folder_;
  std::optional<Child> pooler_;
  std::string url_;
};

// They share server connections, and with them the names of prepared statements.
TEST(ListenerFaults, TwentyMigratorsThroughATransactionPooler) {
  const PostgresDatabase database{PostgresDatabase::Schema::none};
  const TransactionPooler pooler{database};
  const auto open_pooled = [&] {
    store::PostgresOptions options;
    options.dsn = pooler.url();
    options.check_schema = false;
    return store::open_postgres(options);
  };
  // A store is opened without a connection: the first answer tells that the pooler is there.
  eventually([&] {
    auto opened = open_pooled();
    return opened && (*opened)->schema_version();
  });
  std::vector<std::string> errors(20);
  {
    std::vector<std::jthread> migrators;
    for (std::string& error : errors) {
      migrators.emplace_back([&] {
        auto store = open_pooled();
        if (!store) {
          error = store.error().message;
        } else if (const auto done = (*store)->migrate(); !done) {
          error = done.error().message;
        } else if (const auto seen = (*store)->status(); !seen) {
          error = seen.error().message;
        }
      });
    }
  }
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_TRUE(open_store(database.url())->validate()->empty());
}

TEST(ListenerFaults, ATransactionPoolerIsDetectedAndSaid) {
  const PostgresDatabase database;
  const auto publisher = open_store(database.url());
  const TransactionPooler pooler{database};
  const std::string& url = pooler.url();
  std::unique_ptr<store::Store> pooled;
  eventually([&] {
    store::PostgresOptions options;
    options.dsn = url;
    options.max_connections = 12;
    auto opened = store::open_postgres(options);
    if (opened) pooled = *std::move(opened);
    return pooled != nullptr;
  });

  std::mutex mutex;
  std::string log;
  const telemetry::Logger logger{[&](std::string_view line) {
                                   const std::lock_guard lock{mutex};
                                   log += line;
                                 },
                                 {}};
  Journal journal;
  auto options = patient_options("p:1");
  options.listener = quick_times();
  DeliveringProcess process{std::move(pooled), {journalling("tests.journal", journal)}, options, logger};
  eventually([&] { return process->listener_counts().deaf >= 1; });
  eventually([&] { return process->listener_state() == ListenerState::deaf; });
  for (int i = 0; i < 5; ++i) journal.await("tests.journal", publish_one(*publisher));
  const std::lock_guard lock{mutex};
  EXPECT_NE(log.find("a connection pooler stands between"), std::string::npos) << log;
}

// A server that crashes under load: nothing is lost, and LISTEN is armed again.
TEST(ListenerFaults, ACrashedServerUnderLoadLosesNothing) {
  PostgresServer server;
  {
    store::PostgresOptions options;
    options.dsn = server.url();
    options.check_schema = false;
    auto store = store::open_postgres(options);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->migrate());
  }
  const auto publisher = open_store(server.url());
  Journal journal;
  auto options = patient_options("p:1");
  options.listener = quick_times();
  options.worker.ttl = 300ms;
  options.reap_interval = 100ms;
  auto handler = journalling("tests.journal", journal);
  handler.retry.max_attempts = 1'000;
  DeliveringProcess process{open_store(server.url()), {std::move(handler)}, options};

  std::vector<Uuid> acknowledged;
  for (int crash = 0; crash < 3; ++crash) {
    std::jthread breaker{[&] { server.crash_and_restart(); }};
    for (int i = 0; i < 200; ++i) {
      store::NewEvent event = on_channel(an_event());
      // The answer to a commit may be lost: the same id again is safe, until it is acknowledged.
      eventually([&] { return publisher->publish(std::span{&event, 1}).has_value(); });
      acknowledged.push_back(event.envelope.event_id());
    }
  }
  for (const Uuid& id : acknowledged) journal.await("tests.journal", id);
  eventually([&] { return process->listener_state() == ListenerState::listening; });
  // The notification is enough again: no poll is due while it listens.
  journal.await("tests.journal", publish_one(*publisher));
  eventually([&] {
    const auto status = process.store().status();
    if (!status) return false;
    std::int64_t open = 0;
    for (const auto& count : status->counts) open += count.status == Status::delivered ? 0 : count.count;
    return open == 0;
  });
}

void migrate_anew(const std::string& url) {
  store::PostgresOptions options;
  options.dsn = url;
  options.check_schema = false;
  auto store = store::open_postgres(options);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->migrate());
}

std::string maintenance_url(const PostgresDatabase& database) {
  const std::string url = database.url();
  return url.substr(0, url.rfind('/')) + "/postgres";
}

// The database goes and comes back empty beneath running workers: they subscribe, are listed and deliver again.
class CreatedAnew : public testing::TestWithParam<bool> {
 protected:
  void take_away() {
    if (whole_database_) {
      SqlSession{maintenance_url(database_)}.must("drop database " + database_.name() + " with (force)");
    } else {
      // It locks every table in an order of its own, and the workers beside it hold some: a deadlock is no failure
      // here.
      SqlSession session{database_.url()};
      auto answer = session.run("drop schema core cascade");
      while (answer.sqlstate == "40P01") answer = session.run("drop schema core cascade");
      EXPECT_TRUE(answer.ok()) << answer.error;
    }
  }
  void create_anew() {
    if (whole_database_) SqlSession{maintenance_url(database_)}.must("create database " + database_.name());
    migrate_anew(database_.url());
  }

  PostgresDatabase database_;
  bool whole_database_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(ListenerFaults, CreatedAnew, testing::Bool(),
                         [](const auto& param) { return param.param ? "Database" : "Schema"; });

TEST_P(CreatedAnew, WorkersSubscribeAndDeliverAgain) {
  Journal journal;
  auto options = patient_options("p:1");
  options.listener = quick_times();
  options.listener.safety_poll = 20ms;
  options.presence_interval = 20ms;
  options.workers = 2;
  std::mutex mutex;
  std::string log;
  const telemetry::Logger logger{[&](std::string_view line) {
                                   const std::lock_guard lock{mutex};
                                   log += line;
                                 },
                                 {}};
  const auto said = [&](const char* text) {
    const std::lock_guard lock{mutex};
    return log.find(text) != std::string::npos;
  };
  DeliveringProcess process{open_store(database_.url()), {journalling("tests.journal", journal)}, options, logger};
  {
    const auto publisher = open_store(database_.url());
    for (int i = 0; i < 50; ++i) journal.await("tests.journal", publish_one(*publisher));
  }
  take_away();
  eventually([&] { return said(whole_database_ ? "does not exist" : "the schema of Sluice is missing"); });
  create_anew();
  const auto publisher = open_store(database_.url());
  eventually([&] {
    const auto registry = publisher->registry(1);
    return registry && registry->subscriptions.size() == 1;
  });
  eventually([&] {
    const auto workers = publisher->workers(1min);
    return workers && workers->size() == 1;
  });
  for (int i = 0; i < 5; ++i) journal.await("tests.journal", publish_one(*publisher));
  journal.await("tests.journal", publish_one(*publisher, a_keyed_event("k")));
}

}  // namespace
}  // namespace sluice::test
