// Numbers as flags give them.
#pragma once

#include <limits>
#include <string_view>

#include "cli/parse.hpp"

namespace sluice::cli {

struct NumberFlag {
  std::string_view name;                        ///< `--limit`
  int fallback = 0;                             ///< where the flag is not given
  int least = std::numeric_limits<int>::min();  ///< left out: what the use case says about it
  int most = std::numeric_limits<int>::max();
};

/// The error names the flag and the range.
Result<int> number_of(const Arguments& arguments, const NumberFlag& flag);

}  // namespace sluice::cli
