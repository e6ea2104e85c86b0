#include "mcp/transport.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <string>

#include "core/utf8.hpp"
#include "crypto/digest.hpp"
#include "mcp/message.hpp"

namespace sluice::mcp {
namespace {

// Lines from a stream, none of them longer than a limit, however long the sender makes it.
class LineReader {
 public:
  LineReader(std::istream& in, std::size_t limit) : in_(in), limit_(limit) {}

  enum class Read { line, too_long, end };
  /// The next line without its end. A line that is too long is read to its end and dropped.
  Read next(std::string& line);

 private:
  std::istream& in_;
  std::size_t limit_;
};

LineReader::Read LineReader::next(std::string& line) {
  line.clear();
  bool any = false;
  bool fits = true;
  for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
    any = true;
    if (c == '\n') break;
    fits = fits && line.size() < limit_;
    if (fits) line += std::istream::traits_type::to_char_type(c);
  }
  if (!any) return Read::end;
  if (fits) return Read::line;
  line.clear();
  return Read::too_long;
}

// What a client that names none speaks: it is older than the header.
constexpr auto kUnnamedVersion = "2025-03-26";
constexpr std::size_t kLongestClient = 64;
constexpr std::size_t kLongestFreshId = 64;

HttpOutcome refused(int status, Fault fault, const Message& message) {
  fault.id = message.id.empty() ? "null" : message.id;
  return {status, fault_message(fault)};
}

bool is_known(const std::string& version) {
  return version == kStatelessVersion ||
         std::find(kHandshakeVersions.begin(), kHandshakeVersions.end(), version) != kHandshakeVersions.end();
}

std::optional<std::string> meta_version(const Message& message) {
  const auto meta = member(message.params, "_meta");
  return meta ? text_member(*meta, "io.modelcontextprotocol/protocolVersion") : std::nullopt;
}

Fault disagreement(std::string_view header) {
  return {FaultCode::header_mismatch, "the header " + std::string{header} + " must say the same as the body"};
}

// A request of the stateless revision, or one that names a version in its body: what the transport has to say about
// it. None: it may be answered.
std::optional<HttpOutcome> check_stateless(const HttpExchange& request, const Message& message) {
  const auto named = meta_version(message);
  if (named && request.version != named) return refused(400, disagreement("MCP-Protocol-Version"), message);
  if (named && *named != kStatelessVersion) return refused(400, unsupported_version(*named), message);
  if (request.version != kStatelessVersion) return std::nullopt;
  if (auto fault = incomplete_meta(message.params)) return refused(400, *std::move(fault), message);
  if (request.method != message.method) return refused(400, disagreement("Mcp-Method"), message);
  if (!is_stateless_method(message.method)) {
    return refused(404, {FaultCode::method_not_found, "method not found: " + message.method}, message);
  }
  if (message.method == "tools/call" && request.name != text_member(message.params, "name")) {
    return refused(400, disagreement("Mcp-Name"), message);
  }
  return std::nullopt;
}

// `0190…-….6f6c64`: the name may be anything, a header may not.
std::string session_of(const std::string& fresh_id, const std::optional<std::string>& client) {
  return fresh_id + '.' + crypto::to_hex(utf8::prefix(client.value_or(""), kLongestClient));
}

// None: it is no session of ours.
std::optional<std::optional<std::string>> client_of(std::string_view session) {
  const std::size_t dot = session.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot > kLongestFreshId) return std::nullopt;
  auto client = crypto::from_hex(session.substr(dot + 1));
  if (!client || client->size() > kLongestClient) return std::nullopt;
  if (client->empty()) return std::optional<std::string>{};
  return std::optional{*std::move(client)};
}

}  // namespace

void serve(std::istream& in, std::ostream& out, Protocol& protocol, std::size_t limit) {
  LineReader lines{in, limit};
  std::string line;
  for (auto read = lines.next(line); read != LineReader::Read::end && out; read = lines.next(line)) {
    if (read == LineReader::Read::too_long) {
      out << fault_message(
                 {FaultCode::invalid_request, "a message may have at most " + std::to_string(limit) + " bytes"})
          << std::endl;
      continue;
    }
    if (const auto answer = protocol.handle(line)) out << *answer << std::endl;
  }
}

HttpOutcome exchange(const HttpExchange& request, const Toolbox& tools, const Identity& identity) {
  const auto read = read_message(request.body);
  const auto* fault = std::get_if<Fault>(&read);
  const bool batch = fault != nullptr && request.body.starts_with('[');
  if (fault != nullptr && !batch) return {400, fault_message(*fault)};
  const Message message = batch ? Message{Message::Kind::notification, {}, {}, {}} : std::get<Message>(read);
  if (message.kind == Message::Kind::request) {
    if (auto refusal = check_stateless(request, message)) return *std::move(refusal);
  }
  if (request.version && !is_known(*request.version)) {
    return refused(400, unsupported_version(*request.version), message);
  }
  Handshake agreed;
  if (request.version != kStatelessVersion) agreed.version = request.version.value_or(kUnnamedVersion);
  const bool begins = message.kind == Message::Kind::request && message.method == "initialize";
  if (request.session && !begins && !agreed.version.empty()) {
    auto client = client_of(*request.session);
    // A client that hears 404 begins a new session.
    if (!client) {
      return refused(404, {FaultCode::invalid_request, "there is no such session: send initialize again"}, message);
    }
    agreed.client = *std::move(client);
  }
  Protocol protocol{tools, identity, std::move(agreed)};
  auto answer = protocol.handle(request.body);
  if (!answer) return {202, {}};
  HttpOutcome outcome{200, *std::move(answer)};
  if (begins && member(outcome.body, "result")) {
    outcome.session = session_of(request.fresh_id, protocol.agreed().client);
  }
  return outcome;
}

}  // namespace sluice::mcp
