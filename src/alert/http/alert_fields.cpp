#include "alert/http/alert_fields.hpp"

#include <optional>
#include <string_view>

namespace sluice::alert {
namespace {

std::optional<std::string_view> known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}

}  // namespace

void append_fields(JsonObject& object, const Alert& alert) {
  const FailureNotice& failure = alert.failure;
  object.uuid("event_id", failure.event_id)
      .text("event_type", known(failure.event_type))
      .text("source", known(failure.source))
      .text("target", failure.target)
      .uuid("workspace_id", failure.workspace_id)
      .number("generation", failure.generation)
      .text("handler_name", known(failure.handler_name))
      .text("error_class", known(failure.error_class))
      .text("fingerprint", known(failure.fingerprint))
      .text("last_error", failure.last_error)
      .number("attempts", failure.attempts)
      .number("suppressed", alert.suppressed)
      .text("trace_context", failure.trace_context)
      .time("failed_at", failure.failed_at);
}

}  // namespace sluice::alert
