// A libpq connection. The pq_* files are the only ones that see libpq.
//
// Thread-safety: one connection, one thread at a time; the pool hands them out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include <sluice/result.hpp>
#include "store/postgres/pq_values.hpp"

struct pg_conn;

namespace sluice::store::pq {

/// Whether a lost answer leaves the caller in doubt.
enum class Effect { read, write };

/// One SQL statement; `name` is its file name and becomes the prepared statement's name.
struct Statement {
  std::string_view name;
  std::string_view text;
  Effect effect = Effect::write;
};

struct ConnectOptions {
  std::string dsn;
  Duration connect_timeout = std::chrono::seconds{5};
  std::string application_name;
};

class Connection {
 public:
  static Result<Connection> open(const ConnectOptions& options);

  /// Runs a prepared statement, preparing it at first use. Falls back to unnamed statements behind a
  /// pooler that loses prepared ones.
  Result<Rows> run(const Statement& statement, const Params& params = {});

  /// Runs a script of several statements as one implicit transaction, without parameters.
  Result<void> script(std::string_view sql, Effect effect = Effect::write);

  /// False when the server has closed an idle connection.
  [[nodiscard]] bool usable() const;

  /// `text` as an SQL identifier, quoted.
  [[nodiscard]] std::string quote_identifier(std::string_view text) const;

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  explicit Connection(pg_conn* connection) : connection_(connection) {}

  std::unique_ptr<pg_conn, Close> connection_;
  std::unordered_set<std::string_view> prepared_;
  bool may_prepare_ = true;
};

}  // namespace sluice::store::pq
