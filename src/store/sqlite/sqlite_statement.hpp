// Runs a handler's own statement on the connection of its transaction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/statement.hpp"

struct sqlite3;

namespace sluice::store {

/// One statement; its parameters are written `$1`, `$2`, …, each of which must be used, and are bound as
/// text, which SQLite converts to the type of the column that they are stored in or compared with.
StatementOutcome run_statement(sqlite3* connection, std::string_view sql,
                               std::span<const std::optional<std::string>> params);

}  // namespace sluice::store
