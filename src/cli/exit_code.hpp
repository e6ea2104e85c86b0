// The exit codes of every command: part of the interface, scripts depend on them.
#pragma once

#include <sluice/result.hpp>

namespace sluice::cli {

enum class Exit {
  ok = 0,
  failed = 1,
  usage = 2,
  not_found = 3,
  forbidden = 4,
  conflict = 5,  ///< the state changed since it was read
  findings = 6,
  partial = 7,
  timed_out = 8,
  declined = 9,
  unavailable = 10,
  interrupted = 130,
};

/// The one place where an error becomes an exit code.
Exit exit_of(const Error& error);

}  // namespace sluice::cli
