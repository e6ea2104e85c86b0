// What becomes of an event after its handlers ran here: one decision from many outcomes. Pure.
//
// Handlers succeed and fail separately. The event is delivered when every subscribed handler has
// handled it. A handler that will not be tried again fails the event, but only after each other handler
// that a live worker serves has had its chance: one context's failure takes nothing from another's.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>
#include "core/progress.hpp"
#include "core/settle.hpp"

namespace sluice {

/// One handler that ran here.
struct HandlerRun {
  std::string handler_name;
  Outcome outcome;
  RetryPolicy policy;
  double uniform01 = 0.0;  ///< for the jitter
};

using HandlerNames = std::set<std::string, std::less<>>;

/// A view: what it refers to outlives the decision.
struct EventAttempt {
  int attempts = 0;                           ///< of the row, before this attempt
  std::span<const HandlerProgress> progress;  ///< of the row, before this attempt
  /// The subscribed handlers that had not handled the event when this attempt began.
  std::span<const std::string> open;
  std::span<const HandlerRun> runs;  ///< some of `open`
  const HandlerNames& served;        ///< handlers that some live worker hosts
  const HandlerNames& hosted;        ///< handlers that this process hosts
  Timestamp now{};                   ///< the store's clock, as well as it is known
};

struct Decision {
  Settlement settlement;
  std::vector<std::string> handled_by;
};

Decision decide(const EventAttempt& attempt);

}  // namespace sluice
