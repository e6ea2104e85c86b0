#include "alert/http/http_channels.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/characters.hpp"
#include "core/generation.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/redact.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"
#include "host/entropy.hpp"
#include "http_client/http_client.hpp"

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

namespace {

using http_client::Answer;
using http_client::NoAnswer;

constexpr Duration kUsualSilence = std::chrono::seconds{60};
constexpr std::size_t kMostShown = 200;

// What the receiver says about a refusal, as one short line.
std::string excerpt(std::string_view body) {
  std::string line{utf8::prefix(body, kMostShown)};
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string shown(const Answer& answer) {
  const std::string said = excerpt(answer.body);
  return std::to_string(answer.status) + (said.empty() ? "" : ": " + said);
}

std::optional<Duration> silence_of(const Answer& answer, Timestamp now) {
  if (const auto limits = answer.header("x-sentry-rate-limits")) {
    if (const auto silence = parse_rate_limits(*limits)) return silence;
  }
  // On a success it would only concern the next request of a kind that Sentry names above.
  if (answer.status < 400) return std::nullopt;
  const auto after = answer.header("retry-after");
  return after ? http_client::parse_retry_after(*after, now) : std::nullopt;
}

Error no_answer(const Answer& answer) {
  const bool late = answer.reason == NoAnswer::timeout || answer.reason == NoAnswer::stopped;
  return {late ? ErrorCode::timeout : ErrorCode::unavailable, Retry::safe,
          "no answer from the receiver: " + answer.detail, "", ""};
}

}  // namespace

std::optional<Duration> parse_rate_limits(std::string_view text) {
  std::optional<Duration> longest;
  for (std::string_view limit : split(text, ',')) {
    while (limit.starts_with(' ')) limit.remove_prefix(1);
    const auto fields = split(limit, ':');
    const auto seconds = http_client::parse_delay_seconds(fields.front());
    if (!seconds || fields.size() < 2) continue;
    const auto categories = split(fields[1], ';');
    const bool ours = fields[1].empty() || std::find(categories.begin(), categories.end(), "error") != categories.end();
    if (ours) longest = std::max(longest.value_or(Duration::zero()), *seconds);
  }
  return longest;
}

Result<Sent> verdict_of(const Answer& answer, Timestamp now) {
  if (answer.status == 0) return no_answer(answer);
  const auto silence = silence_of(answer, now);
  const std::string said = shown(answer);
  if (answer.status >= 200 && answer.status < 300) return Sent{true, silence, std::to_string(answer.status)};
  if (answer.status == 429) return Sent{false, silence.value_or(kUsualSilence), said};
  if (answer.status == 503 && silence) return Sent{false, silence, said};
  const bool passing = answer.status >= 500 || answer.status == 408;
  return Error{passing ? ErrorCode::unavailable : ErrorCode::forbidden, passing ? Retry::safe : Retry::never,
               "the receiver answered " + said, "", ""};
}

namespace {

constexpr const char* kVersion = SLUICE_VERSION;

std::string user_agent() { return std::string{"sluice/"} + kVersion; }

http_client::HttpClientOptions client_options(const std::string& url, std::string content_type) {
  http_client::HttpClientOptions options;
  options.url = url;
  options.headers = {"Content-Type: " + std::move(content_type), "User-Agent: " + user_agent()};
  options.connect_timeout = std::chrono::seconds{3};
  options.timeout = std::chrono::seconds{10};
  options.kept_headers = {"retry-after", "x-sentry-rate-limits"};
  return options;
}

// An alert is rare: no thread and no connection waits for the next one.
Result<Sent> post(const http_client::HttpClientOptions& options, const std::string& body, const std::stop_token& stop) {
  return verdict_of(http_client::HttpClient{options}.post(body, stop), host::wall_clock());
}

class SentryChannel final : public AlertChannel {
 public:
  SentryChannel(SentrySettings settings, Sender sender) : settings_(std::move(settings)), sender_(std::move(sender)) {}

  [[nodiscard]] std::string_view name() const override { return "sentry"; }
  [[nodiscard]] std::string display() const override { return redact_address(settings_.endpoint); }

  Result<Sent> send(const Alert& alert, const std::stop_token& stop) override {
    auto options = client_options(settings_.endpoint, "application/x-sentry-envelope");
    options.headers.push_back("X-Sentry-Auth: Sentry sentry_version=7, sentry_client=" + user_agent() +
                              ", sentry_key=" + settings_.public_key);
    return post(options, sentry_envelope(alert, sender_, host::wall_clock()), stop);
  }

 private:
  SentrySettings settings_;
  Sender sender_;
};

class WebhookChannel final : public AlertChannel {
 public:
  WebhookChannel(WebhookSettings settings, Sender sender)
      : settings_(std::move(settings)), sender_(std::move(sender)) {}

  [[nodiscard]] std::string_view name() const override { return "webhook"; }
  [[nodiscard]] std::string display() const override { return redact_address(settings_.url); }

  Result<Sent> send(const Alert& alert, const std::stop_token& stop) override {
    auto options = client_options(settings_.url, "application/json");
    if (!settings_.token.empty()) options.headers.push_back("Authorization: Bearer " + settings_.token);
    return post(options, webhook_body(alert, sender_), stop);
  }

 private:
  WebhookSettings settings_;
  Sender sender_;
};

}  // namespace

std::vector<std::unique_ptr<AlertChannel>> open_http_channels(const HttpChannelSettings& settings) {
  const Sender sender{settings.service, settings.environment, kVersion};
  std::vector<std::unique_ptr<AlertChannel>> channels;
  if (settings.sentry) channels.push_back(std::make_unique<SentryChannel>(*settings.sentry, sender));
  if (settings.webhook) channels.push_back(std::make_unique<WebhookChannel>(*settings.webhook, sender));
  return channels;
}

}  // namespace sluice::alert
