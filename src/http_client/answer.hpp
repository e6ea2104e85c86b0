// How an HTTP exchange ended. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice::http_client {

/// Why no answer came.
enum class NoAnswer {
  timeout,
  connection_refused,
  unreachable,  ///< no connection for another reason
  name,         ///< the host's name is not known
  tls,
  connection_lost,  ///< it broke before the answer was complete
  ssrf_refused,     ///< the address guard did not let it go
  too_large,        ///< the head of the answer was
  stopped,          ///< given up from this side
};
/// The error class that the dead-letter queue groups by.
std::string_view name(NoAnswer reason);

struct Answer {
  int status = 0;                                           ///< 0: none came, see `reason`
  std::map<std::string, std::string, std::less<>> headers;  ///< of those that were asked for; names in lower case
  std::string body;                                         ///< the beginning of it
  NoAnswer reason = NoAnswer::connection_lost;
  std::string detail;  ///< of no answer: what the client says

  [[nodiscard]] std::optional<std::string_view> header(std::string_view lower_name) const;
};

/// Whole seconds, at most a day.
std::optional<Duration> parse_delay_seconds(std::string_view text);
/// The value of Retry-After: `120` or `Wed, 21 Oct 2026 07:28:00 GMT`; at most a day.
std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now);

}  // namespace sluice::http_client
