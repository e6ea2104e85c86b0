#include "mcp/allowance.hpp"

#include <string>

namespace sluice::mcp {
namespace {

Error over(std::string field, std::string message, std::string hint) {
  return {ErrorCode::forbidden, Retry::never, std::move(message), std::move(field), std::move(hint)};
}

}  // namespace

Result<void> Allowance::check_rows(std::int64_t rows) const {
  if (rows <= rows_left()) return {};
  return over("max_rows",
              std::to_string(rows) + (rows == 1 ? " event is" : " events are") + " more than the " +
                  std::to_string(rows_left()) + " of " + std::to_string(limits_.max_rows) +
                  " that this server may still replay",
              "plan fewer events with a narrower filter, or ask the operator to raise mcp.max_rows (the flag "
              "--max-rows of `sluice mcp`)");
}

Result<int> Allowance::rate(std::optional<std::int64_t> wanted) const {
  if (!wanted) return limits_.max_rate;
  if (*wanted <= limits_.max_rate) return static_cast<int>(*wanted);
  return over("rate",
              "a rate of " + std::to_string(*wanted) + " per second is more than the " +
                  std::to_string(limits_.max_rate) + " that this server allows",
              "leave rate out, or ask the operator to raise mcp.max_rate (the flag --max-rate of `sluice mcp`)");
}

}  // namespace sluice::mcp
