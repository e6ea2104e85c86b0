// Alerts over HTTP: what a receiver is sent, what its answer means, and the channels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_channel.hpp"
#include "core/alert.hpp"
#include "http_client/http_client.hpp"

namespace sluice::alert {

// An alert as its receivers read it: a Sentry envelope, or the JSON of a generic webhook. Pure.

/// Who sends alerts, as receivers show it.
struct Sender {
  std::string service;
  std::string environment;
  std::string version;  ///< of Sluice
};

/// `{"alert":"event.failed","alert_id":…,"service":…,"environment":…,` and what is known of the failure.
std::string webhook_body(const Alert& alert, const Sender& sender);

/// 32 lower-case hex digits.
std::string sentry_event_id(const Alert& alert);

/// The event: failures of one fingerprint become one issue, and what the seed of an investigation needs
/// stands in tags (to search by) and in the context `sluice` (to read).
std::string sentry_event(const Alert& alert, const Sender& sender);

/// Three lines: the header, the item's header with the length of the event, the event.
std::string sentry_envelope(const Alert& alert, const Sender& sender, Timestamp sent_at);

// What an HTTP answer means for an alert. Pure.

/// 2xx is accepted. 429, and 503 with Retry-After, ask for silence. Other 5xx and 408 may be tried again;
/// everything else, redirects included, will not become better. No answer at all may be tried again. `now` is for a
/// Retry-After that is a date.
Result<Sent> verdict_of(const http_client::Answer& answer, Timestamp now);

/// The longest silence that X-Sentry-Rate-Limits (`60:error;transaction:organization, 2700::key`) imposes
/// on error events; at most a day.
std::optional<Duration> parse_rate_limits(std::string_view text);

// The alert channels that speak HTTP, as the settings ask for them.

struct SentrySettings {
  std::string endpoint;  ///< `https://sentry.example.com/api/42/envelope/`
  std::string public_key;
};

struct WebhookSettings {
  std::string url;
  std::string token;  ///< empty: none is sent
};

struct HttpChannelSettings {
  std::optional<SentrySettings> sentry;
  std::optional<WebhookSettings> webhook;
  std::string service;
  std::string environment;
};

/// One per receiver that is set; none when nothing is. Nothing is connected yet.
std::vector<std::unique_ptr<AlertChannel>> open_http_channels(const HttpChannelSettings& settings);

}  // namespace sluice::alert
