// Help and the manual page sluice(1), from the command table. Help starts with examples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace sluice::cli {

/// Of the command, of the group (`db`), or of everything when `words` is empty.
std::string help_text(const std::vector<std::string>& words);

/// `sluice publish TYPE [flags]`
std::string usage_line(const Command& command);

// The manual page sluice(1), generated from the command table.

std::string man_page(std::string_view version);

}  // namespace sluice::cli
