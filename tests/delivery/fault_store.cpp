#include "tests/delivery/fault_store.hpp"

#include <sqlite3.h>

#include <stdexcept>

#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {
namespace {

// No unique key: a second effect of one event is a second row.
constexpr const char* kEffects = "create table effects (event_id text not null)";

std::unique_ptr<store::Store> must(Result<std::unique_ptr<store::Store>> opened) {
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

class PostgresFaultStore final : public FaultStore {
 public:
  PostgresFaultStore() {
    store::PostgresOptions options;
    options.dsn = database_.url();
    store_ = must(store::open_postgres(options));
    session_.must(kEffects);
  }
  [[nodiscard]] std::string address() const override { return database_.url(); }
  store::Store& store() override { return *store_; }
  std::int64_t number(const std::string& sql) override { return std::stoll(session_.must(sql).value()); }

 private:
  PostgresDatabase database_;
  SqlSession session_{database_.url()};
  std::unique_ptr<store::Store> store_;
};

class SqliteFaultStore final : public FaultStore {
 public:
  SqliteFaultStore() {
    store::SqliteOptions options;
    options.path = address();
    store_ = must(store::open_sqlite(options));
    if (sqlite3_open(address().c_str(), &raw_) != SQLITE_OK) throw std::runtime_error("cannot open the file");
    sqlite3_busy_timeout(raw_, 10'000);
    sqlite3_exec(raw_, kEffects, nullptr, nullptr, nullptr);
  }
  ~SqliteFaultStore() override { sqlite3_close(raw_); }
  [[nodiscard]] std::string address() const override { return folder_.file("faults.db"); }
  store::Store& store() override { return *store_; }
  std::int64_t number(const std::string& sql) override {
    // The same tables, without the schema's name.
    std::string text = sql;
    for (std::size_t at = text.find("core."); at != std::string::npos; at = text.find("core.")) text.erase(at, 5);
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(raw_, text.c_str(), -1, &statement, nullptr) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
      throw std::runtime_error(sqlite3_errmsg(raw_));
    }
    const std::int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
  }

 private:
  TempDir folder_;
  sqlite3* raw_ = nullptr;
  std::unique_ptr<store::Store> store_;
};

}  // namespace

std::unique_ptr<FaultStore> make_fault_store(const std::string& kind) {
  if (kind == "postgres") return std::make_unique<PostgresFaultStore>();
  return std::make_unique<SqliteFaultStore>();
}

}  // namespace sluice::test
