// The request target taken apart: path and query, decoded once. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice::http {

struct Target {
  std::string path;  ///< begins with `/`; no `.`, `..` or empty segment but a last one
  std::map<std::string, std::string, std::less<>> query;
};

/// Origin form only. Refused: escapes that are no UTF-8 or decode to a control character, a slash or a backslash in
/// the path; `.` and `..`; a parameter that is given twice.
Result<Target> parse_target(std::string_view text);

/// What is left of `path` behind the prefix (`/ops/sluice`, or empty); none when it is not below it.
std::optional<std::string> below(std::string_view prefix, std::string_view path);

/// `%20` and, in a query, `+` decoded; none when an escape is broken.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_blank);

}  // namespace sluice::http
