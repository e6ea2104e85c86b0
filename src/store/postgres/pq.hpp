// A libpq connection. The pq_* files are the only ones that see libpq.
//
// Thread-safety: one connection, one thread at a time; the pool hands them out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include <sluice/result.hpp>
#include "store/postgres/pq_values.hpp"
#include "store/statement.hpp"

struct pg_conn;

namespace sluice::store::pq {

/// Whether a lost answer leaves the caller in doubt.
enum class Effect { read, write };

/// One SQL statement; `name` is its file name and becomes the prepared statement's name.
struct Statement {
  std::string_view name;
  std::string_view text;
  Effect effect = Effect::write;
  bool prepare = true;  ///< false: planned for these very values
};

struct ConnectOptions {
  std::string dsn;
  Duration connect_timeout = std::chrono::seconds{5};
  std::string application_name;
  Duration longest_statement{};  ///< run() gives up after it, also on a lock; zero: never
};

/// A transaction was lost with a prepared statement that a pooler took away; the connection goes on without them.
bool is_pooled_away(const Error& error);

class Connection {
 public:
  static Result<Connection> open(const ConnectOptions& options);

  /// Runs a prepared statement, preparing it at first use. Falls back to unnamed statements behind a
  /// pooler that loses prepared ones.
  Result<Rows> run(const Statement& statement, const Params& params = {});
  /// The same without preparing it: for transactions of the caller's, which such a pooler would end with an error.
  Result<Rows> run_unprepared(const Statement& statement, const Params& params = {});

  /// Runs a script of several statements as one implicit transaction, without parameters.
  Result<void> script(std::string_view sql, Effect effect = Effect::write);

  /// One statement of somebody else's with text parameters; rows as text.
  StatementOutcome statement(std::string_view sql, std::span<const std::optional<std::string>> params);

  [[nodiscard]] bool in_transaction() const;
  /// Commits the open transaction. A lost answer is in doubt; a transaction that had failed is an error.
  Result<void> commit();

  /// False when the server has closed an idle connection.
  [[nodiscard]] bool usable() const;

  /// `text` as an SQL identifier, quoted.
  [[nodiscard]] std::string quote_identifier(std::string_view text) const;

  // Without waiting, for whoever polls the socket himself.
  Result<void> send(const Statement& statement, const Params& params);  ///< its rows come by finished()
  Result<void> consume();                                               ///< reads what the socket has
  /// The rows of what was sent, once they are complete; an error when the statement failed.
  std::optional<Result<Rows>> finished();
  struct Notification {
    std::string channel;
    std::string payload;
  };
  std::optional<Notification> notification();  ///< the next one that has been read

  [[nodiscard]] int socket() const;
  [[nodiscard]] int backend_pid() const;  ///< as the connection's start-up said; a pooler says another
  [[nodiscard]] pg_conn* native() const { return connection_.get(); }

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  Connection(pg_conn* connection, Duration longest_statement)
      : connection_(connection), longest_statement_(longest_statement) {}
  Result<Rows> execute(const Statement& statement, const Params& params);
  [[nodiscard]] bool lost_transaction() const;

  std::unique_ptr<pg_conn, Close> connection_;
  Duration longest_statement_;
  std::unordered_set<std::string_view> prepared_;
  bool may_prepare_ = true;
};

/// Runs a statement on a connection of somebody else's, who must have a transaction open.
Result<Rows> run_within(pg_conn* connection, std::string_view text, const Params& params);

}  // namespace sluice::store::pq
