// Where a command speaks: data on `out`, everything else on `err`. Injected, so that tests read both.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace sluice::cli {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_tty = false;
  bool out_is_tty = false;
  bool color = false;  ///< a terminal, and NO_COLOR is not set
};

/// Safe for a terminal, on one line: control characters and text-direction overrides are dropped,
/// white space becomes a space, bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

}  // namespace sluice::cli
