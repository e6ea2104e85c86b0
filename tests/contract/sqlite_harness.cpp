#include <sqlite3.h>

#include <atomic>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/contract/harness.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::contract {
namespace {

constexpr int kPatienceMs = 10'000;

Result<Rows> run(sqlite3* db, const std::string& statement) {
  Rows rows;
  const auto collect = [](void* into, int columns, char** values, char**) {
    std::vector<std::optional<std::string>> row;
    for (int column = 0; column < columns; ++column) {
      row.push_back(values[column] != nullptr ? std::optional<std::string>{values[column]} : std::nullopt);
    }
    static_cast<Rows*>(into)->push_back(std::move(row));
    return 0;
  };
  if (sqlite3_exec(db, statement.c_str(), collect, &rows, nullptr) != SQLITE_OK) {
    return Error{ErrorCode::conflict, Retry::never, sqlite3_errmsg(db), {}, {}};
  }
  return rows;
}

class RawSqlite {
 public:
  explicit RawSqlite(const std::string& path) {
    sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE, nullptr);
    sqlite3_busy_timeout(db_, kPatienceMs);
  }
  ~RawSqlite() { sqlite3_close_v2(db_); }
  RawSqlite(const RawSqlite&) = delete;
  RawSqlite& operator=(const RawSqlite&) = delete;

  Result<Rows> run(const std::string& statement) { return contract::run(db_, statement); }

 private:
  sqlite3* db_ = nullptr;
};

const std::vector<std::pair<std::string, std::string>> kSqliteNames{
    {"outbox", "outbox"},
    {"event_handled", "event_handled"},
    {"deployments", "deployments"},
    {"settings", "settings"},
    {"audit", "audit"},
    {"migrations", "sluice_migrations"},
    {"now", "strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'"}};

class SqliteUnfinishedPublish final : public UnfinishedPublish {
 public:
  explicit SqliteUnfinishedPublish(const std::string& path) : connection_(path) {}

  Result<void> insert(const Uuid& id) {
    auto done =
        connection_.run("begin immediate; insert into outbox (id, event_type, source, generation, payload) values ('" +
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
  RawSqlite connection_;
};

class SqliteHarness final : public Harness {
 public:
  Result<void> open() {
    auto opened = second_store();
    if (!opened) return opened.error();
    store_ = *std::move(opened);
    return {};
  }

  store::Store& store() override { return *store_; }

  Result<std::unique_ptr<store::Store>> second_store() override {
    store::SqliteOptions options;
    options.path = path_;
    options.clock = [this] { return test::wall_clock() + Duration{ahead_.load()}; };
    return store::open_sqlite(options);
  }

  // A clock that is ahead makes everything stored look old.
  void age(Duration by) override { ahead_ += by.count(); }

  Result<Rows> raw_sql(const std::string& statement) override {
    return RawSqlite{path_}.run(with_names(statement, kSqliteNames));
  }

  Result<Rows> run_in(const store::NativeTransaction& transaction, const std::string& statement) override {
    return run(transaction.sqlite, with_names(statement, kSqliteNames));
  }

  Result<void> strand(const Uuid& id, store::StrandedCause cause) override {
    const std::string where = " where id = '" + id.to_string() + "'";
    std::string statement;
    switch (cause) {
      case store::StrandedCause::passed_over: {
        const std::string now = to_iso8601(test::wall_clock() + Duration{ahead_.load()});
        statement = "update outbox set retry_after = '" + now +
                    "', lane = 'gone', progress = '[{\"handler\":\"gone.by\",\"due\":\"" + now + "\"}]'" + where;
        break;
      }
      case store::StrandedCause::no_claim:
        statement = "update outbox set claim_expires_at = null" + where;
        break;
      case store::StrandedCause::blocker_gone:
        statement = "update outbox set status = 'delivered'" + where + ";" +
                    "update outbox set key_blocked = 1 where status = 'pending' and ordering_key = (select "
                    "ordering_key from outbox" +
                    where + ")";
        break;
    }
    auto done = RawSqlite{path_}.run(statement);
    if (!done) return done.error();
    return {};
  }

  Result<std::unique_ptr<UnfinishedPublish>> begin_unfinished_publish(const Uuid& id) override {
    auto unfinished = std::make_unique<SqliteUnfinishedPublish>(path_);
    if (auto inserted = unfinished->insert(id); !inserted) return inserted.error();
    return std::unique_ptr<UnfinishedPublish>{std::move(unfinished)};
  }

  Result<std::vector<std::string>> integrity_check() override {
    auto rows = RawSqlite{path_}.run("pragma integrity_check");
    if (!rows) return rows.error();
    std::vector<std::string> damages;
    for (const auto& row : *rows) {
      if (row.front() != "ok") damages.push_back(row.front().value_or("null"));
    }
    return damages;
  }

 private:
  test::TempDir folder_;
  std::string path_ = folder_.file("contract.db");
  std::atomic<Duration::rep> ahead_{0};
  std::unique_ptr<store::Store> store_;
};

}  // namespace

Result<std::unique_ptr<Harness>> make_sqlite_harness() {
  auto harness = std::make_unique<SqliteHarness>();
  if (auto opened = harness->open(); !opened) return opened.error();
  return std::unique_ptr<Harness>{std::move(harness)};
}

}  // namespace sluice::contract
