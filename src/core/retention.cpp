#include "core/retention.hpp"

#include "core/try.hpp"

namespace sluice {

namespace {

Result<void> check(const RetentionPolicy& policy, const std::string& table) {
  if (policy.active <= Duration::zero()) {
    return invalid(table + ".active", table + ".active must be longer than zero, not " + to_text(policy.active));
  }
  if (policy.grace < Duration::zero()) {
    return invalid(table + ".grace", table + ".grace must not be negative, not " + to_text(policy.grace));
  }
  return {};
}

}  // namespace

Result<void> RetentionPolicies::validate() const {
  SLUICE_CHECK(check(outbox, "outbox"));
  SLUICE_CHECK(check(event_handled, "event_handled"));
  const Duration replayable = outbox.active + outbox.grace;
  if (event_handled.active > replayable) return {};
  Error error =
      invalid("event_handled.active", "event_handled.active (" + to_text(event_handled.active) +
                                          ") must be longer than outbox.active + outbox.grace (" +
                                          to_text(outbox.active) + " + " + to_text(outbox.grace) + " = " +
                                          to_text(replayable) + "), or a replayed event could be handled twice");
  error.hint = "set event_handled.active above " + to_text(replayable) + ", or shorten outbox.active or outbox.grace";
  return error;
}

}  // namespace sluice
