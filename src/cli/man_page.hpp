// The manual page sluice(1), generated from the command table.
#pragma once

#include <string>
#include <string_view>

namespace sluice::cli {

std::string man_page(std::string_view version);

}  // namespace sluice::cli
