// Shell completion, generated from the command table.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace sluice::cli {

/// A place in the command tree: `` for the top, `/db`, `/db/migrate`.
struct Place {
  std::string path;
  const Command* command = nullptr;  ///< none: a group
  /// Words that may come next, with their summaries.
  std::vector<std::pair<std::string, std::string>> words;
};

/// Every place, the top first; hidden commands are left out.
std::vector<Place> places();

/// Whether the flag's value is a file name.
bool takes_file(const Option& option);

// Shell completion, generated from the command table.

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace sluice::cli
