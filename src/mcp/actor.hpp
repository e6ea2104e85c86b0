// Who the audit names when an agent acts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::mcp {

/// `agent:triage (for alice@host)`. A client chooses its own name, so everything but letters, digits, blanks and
/// `._/@-` becomes `_`, and it is cut: it cannot look like somebody else's record.
std::string actor_name(const std::optional<std::string>& agent, std::string_view user);

}  // namespace sluice::mcp
