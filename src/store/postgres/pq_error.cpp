#include "store/postgres/pq_error.hpp"

#include <libpq-fe.h>

#include <algorithm>

#include "core/characters.hpp"

namespace sluice::store::pq {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// libpq's messages end with a line feed, may span lines and may start with "FATAL:  ". A sentence that fills a line
// ends there, also without a full stop.
std::string one_line(std::string_view message) {
  std::string text;
  bool broken = false;
  for (const char c : message) {
    if (c == '\n' || c == '\t' || c == ' ') {
      broken = broken || c == '\n';
      if (!text.empty() && text.back() != ' ') text.push_back(' ');
      continue;
    }
    if (broken && is_upper(c) && text.size() > 1 && is_lower(text[text.size() - 2])) text.insert(text.size() - 1, ".");
    broken = false;
    text.push_back(c);
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// Functions of the schema raise "field: what is wrong" with SQLSTATE SL422.
std::string field_of(std::string_view message) {
  const auto colon = message.find(": ");
  if (colon == std::string_view::npos) return {};
  std::string_view field = message.substr(0, colon);
  if (field.starts_with("p_")) field.remove_prefix(2);
  return std::string{field};
}

const std::string kMemory = "memory";
constexpr std::string_view kInDoubt = "the answer was lost, so the change may or may not have happened";

}  // namespace

Error connect_error(std::string_view message, std::string_view where) {
  const std::string said = one_line(message);
  Error error{
      ErrorCode::unavailable, Retry::safe, "cannot connect to " + std::string{where} + ": " + said, "store", {}};
  if (contains(said, "password authentication failed") || contains(said, "no password supplied") ||
      contains(said, "no pg_hba.conf entry") || contains(said, "Peer authentication failed")) {
    error.code = ErrorCode::forbidden;
    error.retry = Retry::never;
    error.hint = "check the user and password in --store, SLUICE_STORE or PGPASSWORD";
  } else if (contains(said, "database \"") && contains(said, "does not exist")) {
    error.code = ErrorCode::not_found;
    error.retry = Retry::never;
    error.hint = "create it with createdb, or correct the name in --store";
  } else if (contains(said, "too many clients") || contains(said, "remaining connection slots")) {
    error.code = ErrorCode::exhausted;
    error.hint = "raise max_connections or lower the number of connections per process";
  } else if (contains(said, "invalid connection option") || contains(said, "invalid URI") ||
             contains(said, "missing \"=\"") || contains(said, "invalid port") ||
             contains(said, "unexpected spaces found") || contains(said, "invalid integer value")) {
    error.code = ErrorCode::invalid;
    error.retry = Retry::never;
    error.hint = "expected postgres://user@host:port/database";
  } else {
    error.hint = "check that the server runs and that host and port in --store are right";
  }
  return error;
}

Error translate(std::string_view sqlstate, std::string_view message, Effect effect) {
  const std::string said = one_line(message);
  const std::string_view kind = sqlstate.substr(0, 2);
  const auto error = [&](ErrorCode code, Retry retry, std::string hint = {}, std::string field = {}) {
    return Error{code, retry, said, std::move(field), std::move(hint)};
  };
  if (sqlstate.empty() || kind == "08" || sqlstate == "57P01" || sqlstate == "57P02") {
    if (effect == Effect::write && (sqlstate.empty() || kind == "08")) {
      return {ErrorCode::unavailable,
              Retry::in_doubt,
              said + "; " + std::string{kInDoubt},
              {},
              "publishing the same id again is safe"};
    }
    return error(ErrorCode::unavailable, Retry::safe);
  }
  if (sqlstate == "SL404") return error(ErrorCode::not_found, Retry::never);
  if (sqlstate == "SL403") return error(ErrorCode::forbidden, Retry::never);
  if (sqlstate == "SL409") return error(ErrorCode::conflict, Retry::never);
  if (sqlstate == "SL410") return error(ErrorCode::conflict, Retry::safe, {}, "registry");
  if (sqlstate == "SL422") return error(ErrorCode::invalid, Retry::never, {}, field_of(said));
  if (sqlstate == "42704") return error(ErrorCode::not_found, Retry::never);
  if (sqlstate == "57P03") return error(ErrorCode::unavailable, Retry::safe);
  if (sqlstate == "57014" || sqlstate == "55P03") return error(ErrorCode::timeout, Retry::safe);
  if (sqlstate == "42501") return error(ErrorCode::forbidden, Retry::never, "ask the owner to run `sluice db grant`");
  if (kind == "28") return error(ErrorCode::forbidden, Retry::never);
  if (sqlstate == "25006") return error(ErrorCode::read_only, Retry::never, "connect to the primary");
  if (sqlstate == "53100") return error(ErrorCode::exhausted, Retry::safe, "free disk space on the database server");
  if (sqlstate == "53200" || sqlstate == "54000") return error(ErrorCode::exhausted, Retry::safe, {}, kMemory);
  if (kind == "53") return error(ErrorCode::exhausted, Retry::safe);
  if (kind == "40") return error(ErrorCode::unavailable, Retry::safe);
  if (sqlstate == "3F000" || sqlstate == "42P01" || sqlstate == "42883" || sqlstate == "42703") {
    Error missing = error(ErrorCode::schema, Retry::never, "run `sluice db migrate`");
    // A handler's own statement may miss a table of its own.
    if (contains(said, "core.") || contains(said, "\"core\"")) {
      missing.message = "the schema of Sluice is missing in this database, or incomplete: " + said;
    }
    return missing;
  }
  if (kind == "22" || kind == "23") return error(ErrorCode::invalid, Retry::never);
  if (kind == "XX") return error(ErrorCode::corrupt, Retry::never);
  return error(ErrorCode::internal, Retry::never);
}

bool is_out_of_memory(const Error& error) { return error.code == ErrorCode::exhausted && error.field == kMemory; }

std::string_view last_sqlstate(const Rows& rows) {
  const char* state = PQresultErrorField(rows.get(), PG_DIAG_SQLSTATE);
  return state ? state : std::string_view{};
}

Result<void> check(pg_conn* connection, const Rows& rows, Effect effect) {
  const ExecStatusType status = PQresultStatus(rows.get());
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) return {};
  const char* primary = PQresultErrorField(rows.get(), PG_DIAG_MESSAGE_PRIMARY);
  return translate(last_sqlstate(rows), primary ? primary : PQerrorMessage(connection), effect);
}

}  // namespace sluice::store::pq
