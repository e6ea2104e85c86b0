#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "store/postgres/postgres_store.hpp"
#include "tests/contract/harness.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::contract {
namespace {

Result<Rows> run(PGconn* connection, const std::string& statement) {
  PGresult* result = PQexec(connection, statement.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    Error error{ErrorCode::conflict, Retry::never, PQerrorMessage(connection), {}, {}};
    PQclear(result);
    return error;
  }
  Rows rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    auto& values = rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      values.push_back(PQgetisnull(result, row, column) != 0
                           ? std::nullopt
                           : std::optional<std::string>{PQgetvalue(result, row, column)});
    }
  }
  PQclear(result);
  return rows;
}

class RawConnection {
 public:
  explicit RawConnection(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    PQsetNoticeProcessor(
        connection_, [](void*, const char*) {}, nullptr);
  }
  ~RawConnection() { PQfinish(connection_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  Result<Rows> run(const std::string& statement) { return contract::run(connection_, statement); }

 private:
  PGconn* connection_;
};

const std::vector<std::pair<std::string, std::string>> kNames{{"outbox", "core.outbox"},
                                                              {"event_handled", "core.event_handled"},
                                                              {"deployments", "core.deployments"},
                                                              {"settings", "core.settings"},
                                                              {"audit", "core.audit"},
                                                              {"migrations", "core.sluice_migrations"},
                                                              {"now", "now()"}};

/// The server's URL with another database.
std::string url_of(const std::string& server, const std::string& database) {
  const auto host = server.find("://");
  const auto slash = server.find('/', host == std::string::npos ? 0 : host + 3);
  const auto query = server.find('?');
  return server.substr(0, std::min(slash, query)) + "/" + database +
         (query == std::string::npos ? "" : server.substr(query));
}

Result<std::unique_ptr<store::Store>> open(const std::string& url, bool check_schema) {
  store::PostgresOptions options;
  options.dsn = url;
  options.sweep_interval = Duration::zero();
  options.check_schema = check_schema;
  return store::open_postgres(options);
}

class PostgresUnfinishedPublish final : public UnfinishedPublish {
 public:
  explicit PostgresUnfinishedPublish(const std::string& url) : connection_(url) {}

  Result<void> insert(const Uuid& id) {
    auto done =
        connection_.run("begin; insert into core.outbox (id, event_type, source, generation, payload) values ('" +
                        id.to_string() + "', 'test.late', 'tests', 1, '{}')");
    if (!done) return done.error();
    return {};
  }
  Result<void> commit() override {
    auto done = connection_.run("commit");
    if (!done) return done.error();
    return {};
  }

 private:
  RawConnection connection_;
};

class PostgresHarness final : public Harness {
 public:
  PostgresHarness(std::string server, bool partitions) : server_(std::move(server)), partitions_(partitions) {
    static std::atomic<int> tests{0};
    database_ = "sluice_contract_" + std::to_string(::getpid()) + "_" + std::to_string(++tests);
    url_ = url_of(server_, database_);
  }

  ~PostgresHarness() override {
    store_.reset();
    static_cast<void>(RawConnection{server_}.run("drop database if exists " + database_ + " with (force)").has_value());
  }

  Result<void> open_store() {
    {
      test::SqlSession server{server_};
      test::create_migrated(server, server_, database_, partitions_);
    }
    auto opened = second_store();
    if (!opened) return opened.error();
    store_ = *std::move(opened);
    return {};
  }

  store::Store& store() override { return *store_; }

  Result<std::unique_ptr<store::Store>> second_store() override { return open(url_, true); }

  // Every time that the schema holds goes back, those of waiting handlers too; triggers stay out of it.
  void age(Duration by) override {
    const std::string update = R"(
      set session_replication_role = replica;
      do $$
      declare
        change record;
      begin
        for change in
          select c.table_name, string_agg(format('%1$I = %1$I - interval ''{by}''', c.column_name), ', ') as assignments
          from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
          where c.table_schema = 'core' and t.table_type = 'BASE TABLE' and c.data_type = 'timestamp with time zone'
            and c.table_name not in (select p.relname from pg_class p where p.relispartition)
          group by c.table_name
        loop
          execute format('update core.%I set %s', change.table_name, change.assignments);
        end loop;
      end $$;
      update core.outbox o
      set progress = (
        select jsonb_agg(handler || jsonb_build_object('due', to_char(
            ((handler ->> 'due')::timestamptz - interval '{by}') at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
            order by place)
        from jsonb_array_elements(o.progress) with ordinality as waiting(handler, place))
      where o.progress is not null)";
    auto done = RawConnection{url_}.run(with_names(update, {{"by", std::to_string(by.count()) + " microseconds"}}));
    if (!done) throw std::runtime_error(done.error().message);
  }

  Result<Rows> raw_sql(const std::string& statement) override {
    return RawConnection{url_}.run(with_names(statement, kNames));
  }

  Result<Rows> run_in(const store::NativeTransaction& transaction, const std::string& statement) override {
    return run(transaction.postgres, with_names(statement, kNames));
  }

  Result<void> strand(const Uuid& id, store::StrandedCause cause) override {
    const std::string where = " where id = '" + id.to_string() + "'";
    std::string statement = "set session_replication_role = replica;";
    switch (cause) {
      case store::StrandedCause::passed_over:
        // A number that every group's mark has passed.
        statement +=
            "update core.outbox set seq = -seq" + where + ";" + "update core.claim_cursors set low = greatest(low, 0)";
        break;
      case store::StrandedCause::no_claim:
        statement += "delete from core.claims";
        break;
      case store::StrandedCause::blocker_gone:
        statement += "update core.outbox set status = 'delivered', delivered_at = now()" + where;
        break;
    }
    auto done = RawConnection{url_}.run(statement);
    if (!done) return done.error();
    return {};
  }

  Result<std::unique_ptr<UnfinishedPublish>> begin_unfinished_publish(const Uuid& id) override {
    auto unfinished = std::make_unique<PostgresUnfinishedPublish>(url_);
    if (auto inserted = unfinished->insert(id); !inserted) return inserted.error();
    return std::unique_ptr<UnfinishedPublish>{std::move(unfinished)};
  }

  // PostgreSQL guards its own files; what can go wrong is an index that disagrees with its table.
  Result<std::vector<std::string>> integrity_check() override { return std::vector<std::string>{}; }

 private:
  std::string server_;
  bool partitions_;
  std::string database_;
  std::string url_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace

Result<std::unique_ptr<Harness>> make_postgres_harness(bool partitions) {
  const char* server = std::getenv("SLUICE_TEST_POSTGRES");
  if (server == nullptr || *server == '\0') {
    return Error{ErrorCode::unavailable,
                 Retry::never,
                 "SLUICE_TEST_POSTGRES is not set: run the tests with ./run test, which starts a server for them",
                 "SLUICE_TEST_POSTGRES",
                 {}};
  }
  auto harness = std::make_unique<PostgresHarness>(server, partitions);
  if (auto opened = harness->open_store(); !opened) return opened.error();
  return std::unique_ptr<Harness>{std::move(harness)};
}

}  // namespace sluice::contract
