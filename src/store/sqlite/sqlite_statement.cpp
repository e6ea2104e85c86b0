#include "store/sqlite/sqlite_statement.hpp"

#include <sqlite3.h>

#include <memory>

#include "store/sqlite/sqlite_error.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kConstraintViolation = "23000";
constexpr std::string_view kGeneralError = "HY000";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

StatementError refused(std::string message) { return {invalid("sql", std::move(message)), {}}; }

StatementError failed(sqlite3* connection, int code) {
  const char* path = sqlite3_db_filename(connection, "main");
  const int kind = code & 0xff;
  // The store's own reading of this code is about its own tables.
  Error error = kind == SQLITE_ERROR ? Error{ErrorCode::internal, Retry::never, sqlite3_errmsg(connection), "sql", {}}
                                     : sqlite::last_error(connection, code, path != nullptr ? path : "");
  return {std::move(error), std::string{kind == SQLITE_CONSTRAINT ? kConstraintViolation : kGeneralError}};
}

bool only_space(std::string_view text) { return text.find_first_not_of(" \t\r\n;") == std::string_view::npos; }

std::optional<StatementError> bind(sqlite3* connection, sqlite3_stmt* statement,
                                   std::span<const std::optional<std::string>> params) {
  const auto named = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement));
  for (std::size_t place = 1; place <= params.size(); ++place) {
    const std::string name = "$" + std::to_string(place);
    const int index = sqlite3_bind_parameter_index(statement, name.c_str());
    if (index == 0) return refused("the statement does not use its parameter " + name);
    const std::optional<std::string>& value = params[place - 1];
    const int code =
        value ? sqlite3_bind_text64(statement, index, value->data(), value->size(), SQLITE_STATIC, SQLITE_UTF8)
              : sqlite3_bind_null(statement, index);
    if (code != SQLITE_OK) return failed(connection, code);
  }
  if (named > params.size()) {
    return refused("the statement has parameters without a value: write them as $1, $2, … and give each a value");
  }
  return std::nullopt;
}

std::vector<std::optional<std::string>> read_row(sqlite3_stmt* statement) {
  std::vector<std::optional<std::string>> row;
  const int columns = sqlite3_column_count(statement);
  row.reserve(static_cast<std::size_t>(columns));
  for (int column = 0; column < columns; ++column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    if (text == nullptr) {
      row.emplace_back();
    } else {
      row.emplace_back(std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))));
    }
  }
  return row;
}

}  // namespace

StatementOutcome run_statement(sqlite3* connection, std::string_view sql,
                               std::span<const std::optional<std::string>> params) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &prepared, &rest);
  const Statement statement{prepared};
  if (code != SQLITE_OK) return failed(connection, code);
  if (!statement) return refused("the statement is empty");
  if (!only_space({rest, static_cast<std::size_t>(sql.data() + sql.size() - rest)})) {
    return refused("expected one statement: run the others by calls of their own");
  }
  if (auto wrong = bind(connection, statement.get(), params)) return *std::move(wrong);

  StatementResult result;
  const sqlite3_int64 before = sqlite3_total_changes64(connection);
  for (;;) {
    const int step = sqlite3_step(statement.get());
    if (step == SQLITE_DONE) break;
    if (step != SQLITE_ROW) return failed(connection, step);
    result.rows.push_back(read_row(statement.get()));
  }
  // sqlite3_changes64 keeps the count of an earlier statement when this one changes nothing.
  if (sqlite3_total_changes64(connection) != before) result.affected = sqlite3_changes64(connection);
  return result;
}

}  // namespace sluice::store
