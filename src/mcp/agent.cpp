#include "mcp/agent.hpp"

#include <string>

namespace sluice::mcp {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._/@-";

std::string plain(std::string_view name) {
  std::string text{name.substr(0, kLongestName)};
  for (char& c : text) {
    if (kAllowed.find(c) == std::string_view::npos) c = '_';
  }
  return text;
}

Error over(std::string field, std::string message, std::string hint) {
  return {ErrorCode::forbidden, Retry::never, std::move(message), std::move(field), std::move(hint)};
}

}  // namespace

std::string actor_name(const std::optional<std::string>& agent, std::string_view user) {
  const bool named = agent && agent->find_first_not_of(' ') != std::string::npos;
  return "agent:" + (named ? plain(*agent) : "unknown agent") + " (for " + std::string{user} + ')';
}

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
