// The stdio transport: one message per line in, one per line out, until the input ends.
#pragma once

#include <cstddef>
#include <iosfwd>

#include "mcp/protocol.hpp"

namespace sluice::mcp {

/// A longer line is refused without being kept.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{1024} * 1024;

/// Returns when the input ends or the output is gone. Nothing but messages is written.
void serve(std::istream& in, std::ostream& out, Protocol& protocol, std::size_t limit = kMaxMessageBytes);

}  // namespace sluice::mcp
