// JSON-RPC 2.0 as MCP uses it: one message in, at most one out. Slices of the text, no tree; single members of objects
// for the few that the protocol asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sluice::mcp {

/// The member's JSON text; none when it is missing or `object` is no object.
std::optional<std::string_view> member(std::string_view object, std::string_view name);
/// Its text; none when it is missing or no string.
std::optional<std::string> text_member(std::string_view object, std::string_view name);

// JSON-RPC 2.0 as MCP uses it: one message in, at most one out. Slices of the text, no tree.

enum class FaultCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  header_mismatch = -32020,
  unsupported_version = -32022,
};

/// A fault of the protocol itself. What a tool could not do is a result, not a fault.
struct Fault {
  FaultCode code = FaultCode::invalid_request;
  std::string message;
  std::string data{};       ///< JSON text; empty: none
  std::string id = "null";  ///< of the request, as JSON text
};

struct Message {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  std::string id;  ///< of a request: JSON text, a string or a whole number
  std::string method;
  std::string_view params;  ///< JSON text of an object; empty: none. Points into what was read.
};

/// `text` is one JSON value. A Fault carries the id as far as it could be read.
std::variant<Message, Fault> read_message(std::string_view text);

/// One line each, without its end.
std::string result_message(std::string_view id, std::string_view result);
std::string fault_message(const Fault& fault);

}  // namespace sluice::mcp
