#include "store/sqlite/connection.hpp"

#include <sqlite3.h>

#include <cassert>
#include <cerrno>

#include "core/try.hpp"
#include "store/sqlite/payload_terms.hpp"
#include "store/sqlite/sqlite_error.hpp"

namespace sluice::store::sqlite {
namespace {

int note_log_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

int bind(sqlite3_stmt* statement, int index, const Param& param) {
  // Texts outlive the call that binds them, so SQLite need not copy.
  const auto text = [&](std::string_view value) {
    // A null pointer would bind NULL instead of the empty text.
    const char* data = value.data() != nullptr ? value.data() : "";
    return sqlite3_bind_text64(statement, index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  };
  if (const auto* number = std::get_if<std::int64_t>(&param.value))
    return sqlite3_bind_int64(statement, index, *number);
  if (const auto* view = std::get_if<std::string_view>(&param.value)) return text(*view);
  if (const auto* owned = std::get_if<std::string>(&param.value)) return text(*owned);
  return sqlite3_bind_null(statement, index);
}

/// Statements are reused: a row left open would hold a read lock, a bound text would dangle.
struct Rewind {
  sqlite3_stmt* statement;
  ~Rewind() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

}  // namespace

bool Row::next_is_null() const { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }

std::int64_t Row::integer() { return sqlite3_column_int64(statement_, column_++); }

std::string_view Row::view() {
  const int column = column_++;
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Timestamp Row::timestamp() {
  const char* column = sqlite3_column_name(statement_, column_);
  auto parsed = parse_iso8601(view(), column);
  if (!parsed) {
    damaged(parsed.error().message);
    return {};
  }
  return *parsed;
}

Uuid Row::uuid() {
  const char* column = sqlite3_column_name(statement_, column_);
  auto parsed = Uuid::parse(view(), column);
  if (!parsed) {
    damaged(parsed.error().message);
    return {};
  }
  return *parsed;
}

std::optional<std::int64_t> Row::optional_integer() {
  if (next_is_null()) return ++column_, std::nullopt;
  return integer();
}

std::optional<std::string> Row::optional_text() {
  if (next_is_null()) return ++column_, std::nullopt;
  return text();
}

std::optional<Timestamp> Row::optional_timestamp() {
  if (next_is_null()) return ++column_, std::nullopt;
  return timestamp();
}

std::optional<Uuid> Row::optional_uuid() {
  if (next_is_null()) return ++column_, std::nullopt;
  return uuid();
}

void Row::damaged(const std::string& what) {
  if (!damage_) damage_ = Error{ErrorCode::corrupt, Retry::never, "a stored value cannot be read: " + what, {}, {}};
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionParams& params) {
  sqlite3* db = nullptr;
  // NOMUTEX: Database already gives a connection to one thread at a time.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (params.create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(params.path.c_str(), &db, flags, nullptr);
  if (code != SQLITE_OK) {
    Error failure = last_error(db, code, params.path);
    sqlite3_close_v2(db);
    return failure;
  }
  std::unique_ptr<Connection> connection{new Connection(db, params.path, Ownership::own)};
  sqlite3_extended_result_codes(db, 1);
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(params.busy_timeout);
  sqlite3_busy_timeout(db, static_cast<int>(wait.count()));
  sqlite3_wal_autocheckpoint(db, 0);
  sqlite3_wal_hook(db, note_log_pages, connection->log_pages_.get());
  connection->set_checkpoint_on_close(false);
  if (const int added = add_payload_function(db); added != SQLITE_OK) return connection->error(added);
  return connection;
}

std::unique_ptr<Connection> Connection::borrow(sqlite3* handle) {
  const char* path = sqlite3_db_filename(handle, "main");
  return std::unique_ptr<Connection>{new Connection(handle, path != nullptr ? path : "", Ownership::borrowed)};
}

Connection::~Connection() {
  for (auto& [name, prepared] : prepared_) sqlite3_finalize(prepared.statement);
  if (ownership_ == Ownership::own) sqlite3_close_v2(db_);
}

Result<void> Connection::script(std::string_view statements) {
  const std::string text{statements};
  errno = 0;  // last_error reads it after a failed commit
  const int code = sqlite3_exec(db_, text.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<sqlite3_stmt*> Connection::bound(const sql::Query& query, const Params& params) {
  Prepared& prepared = prepared_[query.name];
  if (prepared.statement == nullptr) {
    const int code = sqlite3_prepare_v3(db_, query.text.data(), static_cast<int>(query.text.size()),
                                        SQLITE_PREPARE_PERSISTENT, &prepared.statement, nullptr);
    if (code != SQLITE_OK) return error(code);
  }
  assert(sqlite3_bind_parameter_count(prepared.statement) == static_cast<int>(params.size()));
  int index = 0;
  for (const Param& param : params) {
    ++index;
    assert(prepared.names_checked || sqlite3_bind_parameter_name(prepared.statement, index) == param.name);
    const int code = bind(prepared.statement, index, param);
    if (code != SQLITE_OK) return error(code);
  }
  prepared.names_checked = true;
  return prepared.statement;
}

Result<std::int64_t> Connection::run(const sql::Query& query, const Params& params) {
  SLUICE_TRY(auto statement, bound(query, params));
  const Rewind rewind{statement};
  errno = 0;  // last_error reads it after a failed commit
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(statement);
  if (code != SQLITE_DONE) return error(code);
  return sqlite3_changes64(db_);
}

Result<void> Connection::each(const sql::Query& query, const Params& params, const std::function<void(Row&)>& read) {
  SLUICE_TRY(auto statement, bound(query, params));
  const Rewind rewind{statement};
  std::optional<Error> damage;
  for (;;) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return error(code);
    Row row{statement, damage};
    read(row);
    if (damage) return *std::move(damage);
  }
}

bool Connection::read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }

bool Connection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

void Connection::checkpoint() {
  // What a reader or a full disk prevents is for the next time; the log keeps everything until then.
  static_cast<void>(sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
}

void Connection::set_checkpoint_on_close(bool on) {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on ? 0 : 1, nullptr);
}

Error Connection::error(int code) const { return last_error(db_, code, path_); }

}  // namespace sluice::store::sqlite
