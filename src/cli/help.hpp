// Help from the command table; it starts with examples.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace sluice::cli {

/// Of the command, of the group (`db`), or of everything when `words` is empty.
std::string help_text(const std::vector<std::string>& words);

/// `sluice publish TYPE [flags]`
std::string usage_line(const Command& command);

}  // namespace sluice::cli
