#include "cli/audit_flags.hpp"

namespace sluice::cli {

Option actor_flag() {
  return {"--as", "", "NAME", "who the audit names; default: SLUICE_ACTOR, else user@host", {}, "actor"};
}

Option reason_flag() { return {"--reason", "", "TEXT", "why; goes into the audit"}; }

Option required_reason_flag() { return {"--reason", "", "TEXT", "why; required, and goes into the audit"}; }

Result<void> check_reason(const Session& session) {
  if (session.dry_run() || !session.arguments().value("--reason").value_or("").empty()) return {};
  return invalid("--reason", "--reason is required (recorded in the audit)");
}

}  // namespace sluice::cli
