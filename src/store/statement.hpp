// What came of a statement that a handler ran on the transaction of its effect, whichever database ran it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::store {

struct StatementResult {
  std::vector<std::vector<std::optional<std::string>>> rows;  ///< as text; none: null
  std::int64_t affected = 0;  ///< rows inserted, updated or deleted; 0 for a statement that changes none
};

struct StatementError {
  Error error;
  /// Class 23 is a violated constraint. SQLite, which has no SQLSTATE, gives 23000 for one and HY000 for
  /// everything else. Empty when no database has seen the statement.
  std::string sqlstate;
};

using StatementOutcome = std::variant<StatementResult, StatementError>;

}  // namespace sluice::store
