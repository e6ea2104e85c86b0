// One SQLite connection: prepared statements by query name, values in, rows out. With sqlite_error.cpp
// the only code that sees sqlite3.
//
// Thread-safety: none; Database hands a connection to one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/try.hpp"
#include "sqlite_sql.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice::store::sqlite {

/// A named value for a statement. Texts are borrowed: they must live until the call returns.
struct Param {
  std::string_view name;  ///< `:id`
  std::variant<std::monostate, std::int64_t, std::string_view, std::string> value;

  Param(std::string_view param, std::nullopt_t) : name(param) {}
  Param(std::string_view param, std::integral auto number) : name(param), value(static_cast<std::int64_t>(number)) {}
  Param(std::string_view param, std::string_view text) : name(param), value(text) {}
  Param(std::string_view param, const std::string& text) : name(param), value(std::string_view{text}) {}
  Param(std::string_view param, const char* text) : name(param), value(std::string_view{text}) {}
  Param(std::string_view param, Timestamp at) : name(param), value(to_iso8601(at)) {}
  Param(std::string_view param, const Uuid& id) : name(param), value(id.to_string()) {}
  template <class T>
  Param(std::string_view param, const std::optional<T>& maybe) : name(param) {
    if (maybe) value = Param{param, *maybe}.value;
  }
};

/// The values of one statement: `{{":id", id}, …}`, or a list that was put together before.
class Params {
 public:
  Params(std::initializer_list<Param> params)
      : params_(params.begin(), params.size()) {}                // NOLINT(google-explicit-constructor)
  Params(const std::vector<Param>& params) : params_(params) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::size_t size() const { return params_.size(); }
  [[nodiscard]] auto begin() const { return params_.begin(); }
  [[nodiscard]] auto end() const { return params_.end(); }

 private:
  std::span<const Param> params_;
};

/// The columns of one row, read from left to right. A value that cannot be read is noted and turns
/// the whole query into an error, so that readers need no checks of their own.
class Row {
 public:
  Row(sqlite3_stmt* statement, std::optional<Error>& damage) : statement_(statement), damage_(damage) {}

  std::int64_t integer();
  bool boolean() { return integer() != 0; }
  std::string text() { return std::string{view()}; }
  std::string_view view();  ///< valid until the next row
  Timestamp timestamp();
  Uuid uuid();
  std::optional<std::int64_t> optional_integer();
  std::optional<std::string> optional_text();
  std::optional<Timestamp> optional_timestamp();
  std::optional<Uuid> optional_uuid();

  /// For a reader that finds a value it does not know.
  void damaged(const std::string& what);
  /// For a reader that can tell what is missing: the query goes on. None: everything could be read.
  std::optional<Error> take_damage() { return std::exchange(damage_, std::nullopt); }

 private:
  bool next_is_null() const;

  sqlite3_stmt* statement_;
  std::optional<Error>& damage_;
  int column_ = 0;
};

struct ConnectionParams {
  std::string path;
  bool create = false;
  Duration busy_timeout{};
};

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const ConnectionParams& params);
  /// Works on a handle of somebody else's, who must not close it meanwhile; never closes it.
  static std::unique_ptr<Connection> borrow(sqlite3* handle);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Any number of statements without parameters; rows are dropped.
  Result<void> script(std::string_view statements);

  /// Runs a statement to its end and returns how many rows it changed itself, triggers apart.
  /// The parameters are given in the order in which the statement first names them (asserted).
  Result<std::int64_t> run(const sql::Query& query, const Params& params);

  /// Calls `read` for each row.
  Result<void> each(const sql::Query& query, const Params& params, const std::function<void(Row&)>& read);

  /// The first row, through `read`, if there is one.
  template <class Read>
  auto first(const sql::Query& query, const Params& params, Read read)
      -> Result<std::optional<decltype(read(std::declval<Row&>()))>> {
    std::optional<decltype(read(std::declval<Row&>()))> found;
    auto done = each(query, params, [&](Row& row) {
      if (!found) found = read(row);
    });
    if (!done) return std::move(done).error();
    return found;
  }

  [[nodiscard]] bool read_only() const;
  /// False also when SQLite has ended the transaction by itself, as it does when the disk is full.
  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] sqlite3* handle() const { return db_; }
  /// How many pages the write-ahead log had after the last commit of this connection.
  [[nodiscard]] int log_pages() const { return *log_pages_; }
  /// Moves into the file what no reader needs in the log.
  void checkpoint();
  /// Whether closing it does so, if it is the last one. No connection checkpoints by itself otherwise.
  void set_checkpoint_on_close(bool on);

 private:
  struct Prepared {
    sqlite3_stmt* statement = nullptr;
    bool names_checked = false;
  };

  enum class Ownership { own, borrowed };
  Connection(sqlite3* db, std::string path, Ownership ownership)
      : db_(db), path_(std::move(path)), ownership_(ownership) {}
  Result<sqlite3_stmt*> bound(const sql::Query& query, const Params& params);
  Error error(int code) const;

  sqlite3* db_;
  std::string path_;
  Ownership ownership_;
  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // stays put: SQLite holds its address
  std::unordered_map<std::string_view, Prepared> prepared_;
};

/// Work within a transaction that can be taken back alone, while the transaction goes on.
///
/// What `work()` does stays when it succeeds and `keep(value)` holds; otherwise nothing of it does.
template <class Work, class Keep>
auto tentatively(Connection& connection, Work work, Keep keep) -> decltype(work()) {
  constexpr sql::Query kMark{"tentative_mark", "savepoint sluice_tentative"};
  constexpr sql::Query kUndo{"tentative_undo", "rollback to sluice_tentative"};
  constexpr sql::Query kForget{"tentative_forget", "release sluice_tentative"};
  SLUICE_CHECK(connection.run(kMark, {}));
  auto result = work();
  // After a failure SQLite may have undone the whole transaction by itself, and the mark with it.
  if (!result || !keep(*result)) {
    if (auto undone = connection.run(kUndo, {}); result && !undone) return std::move(undone).error();
  }
  if (auto forgotten = connection.run(kForget, {}); result && !forgotten) return std::move(forgotten).error();
  return result;
}

}  // namespace sluice::store::sqlite
