// How long an HTTP answer asks its client to wait. Pure.
#pragma once

#include <optional>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice::net {

/// Whole seconds, at most a day.
std::optional<Duration> parse_delay_seconds(std::string_view text);

/// The value of Retry-After: `120` or `Wed, 21 Oct 2026 07:28:00 GMT`; at most a day.
std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now);

}  // namespace sluice::net
