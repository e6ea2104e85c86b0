// The two transports, both apart from any server: lines of a stream, and one HTTP POST.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/protocol.hpp"

namespace sluice::mcp {

// The stdio transport: one message per line in, one per line out, until the input ends.

/// A longer line is refused without being kept.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{1024} * 1024;

/// Returns when the input ends or the output is gone. Nothing but messages is written.
void serve(std::istream& in, std::ostream& out, Protocol& protocol, std::size_t limit = kMaxMessageBytes);

// The HTTP transport, apart from any server: one POST in, one answer out, and nothing kept in between.
//
// Since 2026-07-28 headers repeat what the body says, so that a proxy need not read it; they must agree. Clients of
// the time before begin with `initialize` and name the version that was agreed on in a header afterwards. Who they are
// they say only then: the session's id carries the name, so that any daemon knows it, also after a restart.

struct HttpExchange {
  std::optional<std::string> version;  ///< MCP-Protocol-Version
  std::optional<std::string> method;   ///< Mcp-Method
  std::optional<std::string> name;     ///< Mcp-Name
  std::string_view body;
  std::optional<std::string> session{};  ///< Mcp-Session-Id
  std::string fresh_id{};                ///< for a session that begins: unique, letters, digits and hyphens
};

struct HttpOutcome {
  int status = 200;
  std::string body;                      ///< JSON; empty with 202: there is nothing to say
  std::optional<std::string> session{};  ///< Mcp-Session-Id of the answer
};

HttpOutcome exchange(const HttpExchange& request, const Toolbox& tools, const Identity& identity);

}  // namespace sluice::mcp
