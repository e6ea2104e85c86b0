// Numbers as flags give them, and counts as people read them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "cli/parse.hpp"

namespace sluice::cli {

struct NumberFlag {
  std::string_view name;  ///< `--limit`
  int fallback = 0;       ///< where the flag is not given
  int least = 0;
  int most = std::numeric_limits<int>::max();
};

/// The error names the flag and the range.
Result<int> number_of(const Arguments& arguments, const NumberFlag& flag);

/// `1 event`, `2 events`
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace sluice::cli
