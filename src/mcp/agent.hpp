// Who the audit names when an agent acts, and how much it may change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice::mcp {

/// `agent:triage (for alice@host)`. A client chooses its own name, so everything but letters, digits, blanks and
/// `._/@-` becomes `_`, and it is cut: it cannot look like somebody else's record.
std::string actor_name(const std::optional<std::string>& agent, std::string_view user);

// How much this run may change. The agent cannot raise it; whoever starts the server can.

struct Limits {
  bool read_only = false;
  std::int64_t max_rows = 100;  ///< events replayed in the life of the allowance, one by one and by plan
  int max_rate = 50;            ///< events per second of a plan
};

class Allowance {
 public:
  explicit Allowance(Limits limits) : limits_(limits) {}

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] std::int64_t rows_left() const { return limits_.max_rows - spent_; }

  /// forbidden, naming both numbers, when `rows` are more than what is left.
  [[nodiscard]] Result<void> check_rows(std::int64_t rows) const;
  void spend(std::int64_t rows) { spent_ += rows; }

  /// The rate to use; none wanted: the highest that is allowed. forbidden when it is higher.
  [[nodiscard]] Result<int> rate(std::optional<std::int64_t> wanted) const;

 private:
  Limits limits_;
  std::int64_t spent_ = 0;
};

}  // namespace sluice::mcp
