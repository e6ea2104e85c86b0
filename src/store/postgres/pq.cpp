#include "store/postgres/pq.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "core/redact.hpp"
#include "core/try.hpp"
#include "store/postgres/pq_error.hpp"

namespace sluice::store::pq {
namespace {

constexpr int kBinary = 1;

bool lost_prepared_statement(std::string_view sqlstate) { return sqlstate == "26000" || sqlstate == "42P05"; }

constexpr std::string_view kPooler = "pooler";

// A pooler in transaction mode has put us on a server connection with another's prepared statements, or without ours;
// and the transaction in which we found out is lost.
Error pooled_away() {
  return {ErrorCode::unavailable, Retry::safe,
          "a pooler has exchanged the server connection: the transaction is lost and may be repeated",
          std::string{kPooler}, "workers belong on direct connections"};
}

}  // namespace

bool is_pooled_away(const Error& error) { return error.code == ErrorCode::unavailable && error.field == kPooler; }

void Connection::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Result<Connection> Connection::open(const ConnectOptions& options) {
  const std::string timeout = std::to_string(
      std::max<std::int64_t>(2, std::chrono::duration_cast<std::chrono::seconds>(options.connect_timeout).count()));
  // What the DSN itself says comes later in the list and wins.
  const std::array<const char*, 8> keys{
      "connect_timeout",  "application_name", "keepalives_idle", "keepalives_interval",
      "keepalives_count", "tcp_user_timeout", "dbname",          nullptr};
  const std::array<const char*, 8> values{
      timeout.c_str(), options.application_name.c_str(), "10", "5", "3", "30000", options.dsn.c_str(), nullptr};
  Connection connection{PQconnectdbParams(keys.data(), values.data(), 1), options.longest_statement};
  if (PQstatus(connection.connection_.get()) != CONNECTION_OK) {
    return connect_error(PQerrorMessage(connection.connection_.get()), redact_dsn(options.dsn));
  }
  // Notices would go to stderr; errors reach the caller as values.
  PQsetNoticeProcessor(
      connection.connection_.get(), [](void*, const char*) {}, nullptr);
  return connection;
}

Result<Rows> Connection::run(const Statement& statement, const Params& params) {
  if (longest_statement_ == Duration::zero() || in_transaction()) return execute(statement, params);
  // A limit for this transaction only: one of the session would stay with the server's connection when a pooler
  // gives it to somebody else.
  const auto limit = std::to_string(std::chrono::ceil<std::chrono::milliseconds>(longest_statement_).count());
  const std::string begin = "begin; set local statement_timeout = " + limit + "; set local lock_timeout = " + limit;
  SLUICE_CHECK(script(begin, Effect::read));
  const bool prepared = may_prepare_;
  Result<Rows> rows = execute(statement, params);
  if (!rows) {
    static_cast<void>(script("rollback").has_value());
    // It failed for want of its prepared form, and will be run without one from now on.
    if (prepared && !may_prepare_) return run(statement, params);
    return rows;
  }
  SLUICE_CHECK(commit());
  return rows;
}

Result<Rows> Connection::run_unprepared(const Statement& statement, const Params& params) {
  const Params::Raw raw = params.raw();
  Rows rows{PQexecParams(connection_.get(), std::string{statement.text}.c_str(), static_cast<int>(raw.values.size()),
                         nullptr, raw.values.data(), raw.lengths.data(), raw.formats.data(), kBinary)};
  SLUICE_CHECK(check(connection_.get(), rows, statement.effect));
  return rows;
}

bool Connection::lost_transaction() const { return PQtransactionStatus(connection_.get()) == PQTRANS_INERROR; }

Result<Rows> Connection::execute(const Statement& statement, const Params& params) {
  pg_conn* connection = connection_.get();
  const Params::Raw raw = params.raw();
  const int count = static_cast<int>(raw.values.size());
  if (may_prepare_ && statement.prepare) {
    if (!prepared_.contains(statement.name)) {
      const Rows prepared{
          PQprepare(connection, std::string{statement.name}.c_str(), std::string{statement.text}.c_str(), 0, nullptr)};
      if (Result<void> checked = check(connection, prepared, Effect::read); !checked) {
        if (!lost_prepared_statement(last_sqlstate(prepared))) return checked.error();
        may_prepare_ = false;
        if (lost_transaction()) return pooled_away();
      } else {
        prepared_.insert(statement.name);
      }
    }
    if (may_prepare_) {
      Rows rows{PQexecPrepared(connection, std::string{statement.name}.c_str(), count, raw.values.data(),
                               raw.lengths.data(), raw.formats.data(), kBinary)};
      if (Result<void> checked = check(connection, rows, statement.effect); checked) {
        return rows;
      } else if (!lost_prepared_statement(last_sqlstate(rows))) {
        return checked.error();
      }
      may_prepare_ = false;
      if (lost_transaction()) return pooled_away();
    }
  }
  return run_unprepared(statement, params);
}

Result<void> Connection::script(std::string_view sql, Effect effect) {
  const Rows rows{PQexec(connection_.get(), std::string{sql}.c_str())};
  return check(connection_.get(), rows, effect);
}

StatementOutcome Connection::statement(std::string_view sql, std::span<const std::optional<std::string>> params) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const auto& param : params) values.push_back(param ? param->c_str() : nullptr);
  const Rows rows{PQexecParams(connection_.get(), std::string{sql}.c_str(), static_cast<int>(values.size()), nullptr,
                               values.data(), nullptr, nullptr, 0)};
  if (Result<void> checked = check(connection_.get(), rows, Effect::read); !checked) {
    return StatementError{checked.error(), std::string{last_sqlstate(rows)}};
  }
  StatementResult result;
  const bool selects = std::string_view{PQcmdStatus(const_cast<PGresult*>(rows.get()))}.starts_with("SELECT");
  result.affected = selects ? 0 : rows.affected();
  const int columns = PQnfields(rows.get());
  for (int row = 0; row < rows.size(); ++row) {
    auto& cells = result.rows.emplace_back();
    for (int column = 0; column < columns; ++column) cells.push_back(rows.optional_text(row, column));
  }
  return result;
}

bool Connection::in_transaction() const { return PQtransactionStatus(connection_.get()) == PQTRANS_INTRANS; }

Result<void> Connection::commit() {
  const Rows rows{PQexec(connection_.get(), "commit")};
  if (Result<void> checked = check(connection_.get(), rows, Effect::write); !checked) {
    // Whatever the server said while it went away, it may have said it after the commit.
    if (PQstatus(connection_.get()) != CONNECTION_OK) checked.error().retry = Retry::in_doubt;
    return checked;
  }
  if (std::string_view{PQcmdStatus(const_cast<PGresult*>(rows.get()))} == "COMMIT") return {};
  return Error{ErrorCode::conflict, Retry::safe, "the transaction had failed and was rolled back", {}, {}};
}

Result<void> Connection::send(const Statement& statement, const Params& params) {
  const Params::Raw raw = params.raw();
  const int count = static_cast<int>(raw.values.size());
  if (PQsendQueryParams(connection_.get(), std::string{statement.text}.c_str(), count, nullptr, raw.values.data(),
                        raw.lengths.data(), raw.formats.data(), kBinary) == 1) {
    return {};
  }
  return translate("", PQerrorMessage(connection_.get()), Effect::read);
}

Result<void> Connection::consume() {
  if (PQconsumeInput(connection_.get()) == 1) return {};
  return translate("", PQerrorMessage(connection_.get()), Effect::read);
}

std::optional<Result<Rows>> Connection::finished() {
  if (PQisBusy(connection_.get()) == 1) return std::nullopt;
  Rows rows{PQgetResult(connection_.get())};
  if (rows.get() == nullptr) return std::nullopt;
  // The null result that ends the statement is there as well once the rows are.
  while (PGresult* rest = PQgetResult(connection_.get())) PQclear(rest);
  SLUICE_CHECK(check(connection_.get(), rows, Effect::read));
  return rows;
}

std::optional<Connection::Notification> Connection::notification() {
  PGnotify* raw = PQnotifies(connection_.get());
  if (raw == nullptr) return std::nullopt;
  Notification heard{raw->relname, raw->extra};
  PQfreemem(raw);
  return heard;
}

int Connection::socket() const { return PQsocket(connection_.get()); }
int Connection::backend_pid() const { return PQbackendPID(connection_.get()); }

bool Connection::usable() const {
  if (PQstatus(connection_.get()) != CONNECTION_OK) return false;
  if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) return false;
  // An idle connection has nothing to say: a readable socket means that the server hung up.
  pollfd descriptor{PQsocket(connection_.get()), POLLIN, 0};
  return poll(&descriptor, 1, 0) == 0;
}

std::string Connection::quote_identifier(std::string_view text) const {
  char* quoted = PQescapeIdentifier(connection_.get(), text.data(), text.size());
  std::string result = quoted ? quoted : "";
  PQfreemem(quoted);
  return result;
}

Result<Rows> run_within(pg_conn* connection, std::string_view text, const Params& params) {
  const PGTransactionStatusType status = PQtransactionStatus(connection);
  if (status == PQTRANS_IDLE) return invalid("transaction", "the connection has no transaction open: begin one first");
  if (status == PQTRANS_INERROR) {
    return invalid("transaction", "the transaction has failed: roll it back and begin another");
  }
  if (status != PQTRANS_INTRANS) return invalid("transaction", "the connection is busy or broken");
  const Params::Raw raw = params.raw();
  Rows rows{PQexecParams(connection, std::string{text}.c_str(), static_cast<int>(raw.values.size()), nullptr,
                         raw.values.data(), raw.lengths.data(), raw.formats.data(), kBinary)};
  // Nothing is in doubt before the commit, and that is the caller's.
  SLUICE_CHECK(check(connection, rows, Effect::read));
  return rows;
}

}  // namespace sluice::store::pq
