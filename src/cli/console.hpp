// Where a command speaks: data on `out`, everything else on `err`. Injected, so that tests read both.
#pragma once

#include <iosfwd>

#include "core/words.hpp"

namespace sluice::cli {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_tty = false;
  bool out_is_tty = false;
  bool color = false;  ///< a terminal, and NO_COLOR is not set
  bool err_is_tty = false;
};

}  // namespace sluice::cli
