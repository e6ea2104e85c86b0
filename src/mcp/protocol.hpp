// The protocol, both eras of it, apart from any transport: one message in, at most one out.
//
// Since 2026-07-28 every request stands for itself and carries its version in params._meta; before, a session began
// with `initialize`. Which era a request belongs to is told by that member alone.
//
// Thread-safety: one thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/message.hpp"
#include "mcp/toolbox.hpp"

namespace sluice::mcp {

inline constexpr std::string_view kStatelessVersion = "2026-07-28";
/// Newest first.
inline constexpr std::array<std::string_view, 4> kHandshakeVersions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                                    "2024-11-05"};

/// The methods of the stateless revision; what it does not have it dropped, or never had.
bool is_stateless_method(std::string_view method);

/// What is missing in a stateless request's params._meta; none: it has all that every such request must carry.
std::optional<Fault> incomplete_meta(std::string_view params);

/// Names the versions that are spoken here.
Fault unsupported_version(const std::string& requested);

struct Identity {
  std::string version;               ///< of this server
  std::string user;                  ///< on whose behalf agents act here: alice@host
  std::optional<std::string> agent;  ///< beats what a client calls itself
};

/// What an `initialize` ended with.
struct Handshake {
  std::string version;                  ///< empty: there was none yet
  std::optional<std::string> client{};  ///< as it called itself
};

class Protocol {
 public:
  /// `agreed`: how an earlier `initialize` ended, where each request comes by itself.
  Protocol(const Toolbox& tools, Identity identity, Handshake agreed = {})
      : tools_(tools), identity_(std::move(identity)), agreed_(std::move(agreed)) {}

  /// None: nothing is to be sent.
  std::optional<std::string> handle(std::string_view text);

  [[nodiscard]] const Handshake& agreed() const { return agreed_; }

 private:
  using Answer = std::variant<std::string, Fault>;  // the result, or what is wrong with the request

  std::string handle_batch(std::string_view text);
  std::optional<std::string> handle_one(std::string_view text);
  Answer dispatch(const Message& message);
  Answer stateless(const Message& message, std::string_view meta);
  Answer handshake(const Message& message);
  Answer initialize(std::string_view params);
  Answer call_tool(std::string_view params, const std::optional<std::string>& client);
  [[nodiscard]] std::string discover() const;
  [[nodiscard]] std::string server_info() const;
  [[nodiscard]] std::string completed(std::string_view result) const;
  [[nodiscard]] std::string cacheable(std::string_view result) const;

  const Toolbox& tools_;
  Identity identity_;
  Handshake agreed_;
};

}  // namespace sluice::mcp
