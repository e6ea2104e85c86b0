// A search by a value of the payload: `data.order.id:4711`. Pure, and the same as what the databases answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One value somewhere in a payload. Where the way there leads through an array, each element is tried.
struct PayloadTerm {
  std::vector<std::string> path;  ///< names of members, from the outside in; at least one
  std::string value;
  bool only_text = false;  ///< a string of that text alone, never a number, `true`, `false` or `null`

  bool operator==(const PayloadTerm&) const = default;
};

/// The JSON number, `true`, `false` or `null` that the value matches besides a string; none: only a string.
std::optional<std::string> scalar_of(const PayloadTerm& term);

/// Whether two JSON numbers are the same one: `1.50` and `15e-1`.
bool same_number(std::string_view one, std::string_view other);

/// False also for a payload that is no JSON.
bool payload_has(std::string_view payload, const PayloadTerm& term);

/// `data.order.id`, and `data."order.id"` where the name of a member needs quotes.
std::string name_of(const PayloadTerm& term);

/// The path that such a name stands for, whether its quotes are needed or not; none: it names no member.
std::optional<std::vector<std::string>> path_of(std::string_view name);

}  // namespace sluice
