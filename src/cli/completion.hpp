// Shell completion, generated from the command table.
#pragma once

#include <string>

namespace sluice::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace sluice::cli
