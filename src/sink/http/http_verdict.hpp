// What the end of an HTTP exchange means for the event. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/handler.hpp>
#include <sluice/time.hpp>
#include "http_client/http_client.hpp"

namespace sluice::sink {

using http_client::Answer;
using http_client::NoAnswer;

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
