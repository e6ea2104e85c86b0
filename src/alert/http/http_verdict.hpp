// What an HTTP answer means for an alert. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "alert/alert_channel.hpp"
#include "http_client/answer.hpp"

namespace sluice::alert {

/// 2xx is accepted. 429, and 503 with Retry-After, ask for silence. Other 5xx and 408 may be tried again;
/// everything else, redirects included, will not become better. No answer at all may be tried again. `now` is for a
/// Retry-After that is a date.
Result<Sent> verdict_of(const http_client::Answer& answer, Timestamp now);

/// The longest silence that X-Sentry-Rate-Limits (`60:error;transaction:organization, 2700::key`) imposes
/// on error events; at most a day.
std::optional<Duration> parse_rate_limits(std::string_view text);

}  // namespace sluice::alert
