#include "alert/http/alert_body.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/generation.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/utf8.hpp"

namespace sluice::alert {
namespace {

std::optional<std::string_view> known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}

// What every receiver is told, under the same names as in the log and the schema: event_id, event_type, source, target,
// workspace_id, generation, handler_name, error_class, fingerprint, last_error, attempts, suppressed, trace_context and
// failed_at. What is not known is null.
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

// Sentry drops a tag that is longer or has a line break.
constexpr std::size_t kLongestTag = 200;

void tag(JsonObject& tags, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  std::string text{utf8::prefix(value, kLongestTag)};
  std::replace(text.begin(), text.end(), '\n', ' ');
  tags.text(name, text);
}

std::string tags_of(const FailureNotice& failure, const Sender& sender) {
  JsonObject tags;
  tag(tags, "service", sender.service);
  tag(tags, "event_id", failure.event_id.to_string());
  tag(tags, "event_type", failure.event_type);
  tag(tags, "source", failure.source);
  tag(tags, "target", failure.target.value_or(""));
  tag(tags, "workspace_id", failure.workspace_id ? failure.workspace_id->to_string() : "");
  tag(tags, "generation", std::to_string(failure.generation));
  tag(tags, "handler_name", failure.handler_name);
  tag(tags, "error_class", failure.error_class);
  tag(tags, "attempts", std::to_string(failure.attempts));
  return tags.str();
}

// The class stands before the message in last_error; Sentry wants them apart.
std::string exception_of(const FailureNotice& failure) {
  std::string_view value = failure.last_error;
  if (const std::string prefix = failure.error_class + ": "; value.starts_with(prefix)) {
    value.remove_prefix(prefix.size());
  }
  const std::string type = failure.error_class.empty() ? "Error" : failure.error_class;
  return JsonObject{}.array("values", {JsonObject{}.text("type", type).text("value", value).str()}).str();
}

std::string contexts_of(const Alert& alert) {
  JsonObject fields;
  append_fields(fields, alert);
  JsonObject contexts;
  contexts.raw("sluice", fields.str());
  const auto& trace = alert.failure.trace_context;
  if (trace && check_trace_context(*trace)) {
    contexts.raw("trace", JsonObject{}
                              .text("type", "trace")
                              .text("trace_id", trace->substr(3, 32))
                              .text("span_id", trace->substr(36, 16))
                              .str());
  }
  return contexts.str();
}

std::string summary_of(const FailureNotice& failure) {
  const std::string what = failure.event_type.empty() ? failure.event_id.to_string() : failure.event_type;
  const std::string who = failure.handler_name.empty() ? "" : " in " + failure.handler_name;
  return what + " failed" + who + " after " + std::to_string(failure.attempts) +
         (failure.attempts == 1 ? " attempt" : " attempts");
}

}  // namespace

std::string sentry_event_id(const Alert& alert) {
  std::string id = alert.alert_id.to_string();
  id.erase(std::remove(id.begin(), id.end(), '-'), id.end());
  return id;
}

std::string sentry_event(const Alert& alert, const Sender& sender) {
  const FailureNotice& failure = alert.failure;
  JsonObject event;
  event.text("event_id", sentry_event_id(alert))
      .time("timestamp", failure.failed_at)
      .text("platform", "native")
      .text("level", "error")
      .text("logger", "sluice")
      .text("environment", sender.environment)
      .text("release", "sluice@" + sender.version)
      .raw("logentry", JsonObject{}.text("formatted", summary_of(failure)).str())
      .raw("exception", exception_of(failure))
      .raw("tags", tags_of(failure, sender));
  if (!failure.fingerprint.empty()) event.texts("fingerprint", {"sluice", failure.fingerprint});
  event.raw("contexts", contexts_of(alert));
  return event.str();
}

std::string sentry_envelope(const Alert& alert, const Sender& sender, Timestamp sent_at) {
  const std::string event = sentry_event(alert, sender);
  const std::string header = JsonObject{}.text("event_id", sentry_event_id(alert)).time("sent_at", sent_at).str();
  const std::string item =
      JsonObject{}.text("type", "event").number("length", static_cast<std::int64_t>(event.size())).str();
  return header + '\n' + item + '\n' + event;
}

std::string webhook_body(const Alert& alert, const Sender& sender) {
  JsonObject body;
  body.text("alert", "event.failed")
      .uuid("alert_id", alert.alert_id)
      .text("service", sender.service)
      .text("environment", sender.environment);
  append_fields(body, alert);
  return body.str();
}

}  // namespace sluice::alert
