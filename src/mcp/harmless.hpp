// What leaves towards an agent: texts that others wrote (errors, payloads, reasons) cannot carry control
// characters, reorder what is read, or fill the agent's memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::mcp {

/// No text is longer.
inline constexpr std::size_t kHarmlessBytes = 1024;

/// printable, and cut.
std::string harmless(std::string_view text);

/// The same for every string and member name inside a JSON value; numbers and the shape stay.
std::string harmless_json(std::string_view json);

}  // namespace sluice::mcp
