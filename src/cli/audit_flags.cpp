#include "cli/audit_flags.hpp"

#include "ops/audit.hpp"

namespace sluice::cli {

Option actor_flag() {
  return {"--as", "", "NAME", "who the audit names; default: SLUICE_ACTOR, else user@host", {}, "actor"};
}

Option reason_flag() { return {"--reason", "", "TEXT", "why; goes into the audit"}; }

Option required_reason_flag() { return {"--reason", "", "TEXT", "why; required, and goes into the audit"}; }

Result<void> check_reason(const Session& session) {
  if (session.dry_run()) return {};
  return ops::check_reason(session.arguments().value("--reason").value_or(""));
}

}  // namespace sluice::cli
