// The command line as a function: words and surroundings in, an exit code out.
#pragma once

#include <string>
#include <vector>

#include "cli/adapters.hpp"
#include "cli/report_error.hpp"
#include "cli/session.hpp"
#include "config/gather.hpp"

namespace sluice::cli {

struct Invocation {
  std::vector<std::string> words;  ///< without the program's name
  config::Environment environment;
  std::string hostname;
  std::string user{};  ///< the name of the process's user id
};

Exit run(const Invocation& invocation, Console& console, const Adapters& adapters);

}  // namespace sluice::cli
