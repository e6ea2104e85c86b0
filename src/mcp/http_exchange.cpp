#include "mcp/http_exchange.hpp"

#include <algorithm>

#include "mcp/member.hpp"

namespace sluice::mcp {
namespace {

// What a client that names none speaks: it is older than the header.
constexpr auto kUnnamedVersion = "2025-03-26";

HttpOutcome refused(FaultCode code, std::string message, std::string id = "null") {
  return {400, fault_message({code, std::move(message), {}, std::move(id)})};
}

bool is_stateless(const HttpExchange& request) { return request.version == kStatelessVersion; }

bool is_known(const std::string& version) {
  return version == kStatelessVersion ||
         std::find(kHandshakeVersions.begin(), kHandshakeVersions.end(), version) != kHandshakeVersions.end();
}

// None: they agree.
std::optional<std::string> disagreement(const HttpExchange& request, const Message& message) {
  const auto meta = member(message.params, "_meta");
  const auto version =
      meta ? text_member(*meta, "io.modelcontextprotocol/protocolVersion") : std::optional<std::string>{};
  if (is_stateless(request) != (version == kStatelessVersion)) return "MCP-Protocol-Version";
  if (!is_stateless(request)) return std::nullopt;
  if (request.method != message.method) return "Mcp-Method";
  if (message.method == "tools/call" && request.name != text_member(message.params, "name")) return "Mcp-Name";
  return std::nullopt;
}

}  // namespace

HttpOutcome exchange(const HttpExchange& request, const Toolbox& tools, const Identity& identity) {
  if (request.version && !is_known(*request.version)) {
    return refused(FaultCode::unsupported_version, "protocol version " + *request.version + " is not spoken here");
  }
  const auto read = read_message(request.body);
  const auto* fault = std::get_if<Fault>(&read);
  if (fault != nullptr && !request.body.starts_with('[')) return {400, fault_message(*fault)};
  if (const auto* message = std::get_if<Message>(&read)) {
    if (const auto header = disagreement(request, *message); header && message->kind == Message::Kind::request) {
      return refused(FaultCode::header_mismatch, "the header " + *header + " must say the same as the body",
                     message->id);
    }
  }
  Protocol protocol{tools, identity, is_stateless(request) ? std::string{} : request.version.value_or(kUnnamedVersion)};
  auto answer = protocol.handle(request.body);
  if (!answer) return {202, {}};
  return {200, *std::move(answer)};
}

}  // namespace sluice::mcp
