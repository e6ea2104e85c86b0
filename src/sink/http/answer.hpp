// How an HTTP exchange ended, and what that means for the event. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/handler.hpp>
#include <sluice/time.hpp>

namespace sluice::sink {

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
  int status = 0;           ///< 0: none came, see `reason`
  std::string retry_after;  ///< the header; empty: not there
  std::string body;         ///< the beginning of it
  NoAnswer reason = NoAnswer::connection_lost;
  std::string detail;  ///< of no answer: what the client says
};

/// Which statuses fail an event at once. The others that are no success are tried again.
struct StatusRules {
  std::vector<int> terminal;
  std::vector<int> transient;
  [[nodiscard]] bool is_terminal(int status) const;
};

/// The receiver says that it is gone for good.
bool is_gone(const Answer& answer, const StatusRules& rules);
/// Whether the receiver is in trouble, rather than this event: what a circuit breaker counts.
bool is_trouble(const Answer& answer);

/// `target` is how messages name the receiver; `now` is for a Retry-After that is a date.
Verdict verdict_of(const Answer& answer, const StatusRules& rules, std::string_view target, Timestamp now);

/// The status and what the receiver said, in one line that is safe to show.
std::string described(const Answer& answer);

}  // namespace sluice::sink
