// --data: where the payload text comes from.
#pragma once

#include <cstddef>
#include <string>

#include <sluice/result.hpp>
#include "cli/console.hpp"

namespace sluice::cli {

/// JSON itself, `@FILE`, or `-` for standard input. Stops reading beyond `limit` bytes.
Result<std::string> read_payload(const std::string& data, Console& console, bool may_read_terminal, std::size_t limit);

}  // namespace sluice::cli
