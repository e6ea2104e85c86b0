#include "store/postgres/pq.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "core/redact.hpp"
#include "store/postgres/pq_error.hpp"

namespace sluice::store::pq {
namespace {

constexpr int kBinary = 1;

bool lost_prepared_statement(std::string_view sqlstate) { return sqlstate == "26000" || sqlstate == "42P05"; }

}  // namespace

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
  Connection connection{PQconnectdbParams(keys.data(), values.data(), 1)};
  if (PQstatus(connection.connection_.get()) != CONNECTION_OK) {
    return connect_error(PQerrorMessage(connection.connection_.get()), redact_dsn(options.dsn));
  }
  // Notices would go to stderr; errors reach the caller as values.
  PQsetNoticeProcessor(
      connection.connection_.get(), [](void*, const char*) {}, nullptr);
  return connection;
}

Result<Rows> Connection::run(const Statement& statement, const Params& params) {
  pg_conn* connection = connection_.get();
  const Params::Raw raw = params.raw();
  const int count = static_cast<int>(raw.values.size());
  if (may_prepare_) {
    if (!prepared_.contains(statement.name)) {
      const Rows prepared{
          PQprepare(connection, std::string{statement.name}.c_str(), std::string{statement.text}.c_str(), 0, nullptr)};
      if (Result<void> checked = check(connection, prepared, Effect::read); !checked) {
        if (!lost_prepared_statement(last_sqlstate(prepared))) return checked.error();
        may_prepare_ = false;
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
    }
  }
  Rows rows{PQexecParams(connection, std::string{statement.text}.c_str(), count, nullptr, raw.values.data(),
                         raw.lengths.data(), raw.formats.data(), kBinary)};
  if (Result<void> checked = check(connection, rows, statement.effect); !checked) return checked.error();
  return rows;
}

Result<void> Connection::script(std::string_view sql, Effect effect) {
  const Rows rows{PQexec(connection_.get(), std::string{sql}.c_str())};
  return check(connection_.get(), rows, effect);
}

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

}  // namespace sluice::store::pq
