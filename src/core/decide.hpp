// What becomes of an event after its handlers ran here: one decision from many outcomes. Pure.
//
// Handlers succeed and fail separately. The event is delivered when every subscribed handler has
// handled it. A handler that will not be tried again fails the event, but only after each other handler
// that a live worker serves has had its chance: one context's failure takes nothing from another's.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>
#include "core/settle.hpp"

namespace sluice {

/// One handler that ran here. A view, like EventAttempt.
struct HandlerRun {
  std::string_view handler_name;
  const Outcome& outcome;
  const RetryPolicy& policy;
  double uniform01 = 0.0;  ///< for the jitter
};

using HandlerNames = std::set<std::string, std::less<>>;

/// A view: what it refers to outlives the decision.
struct EventAttempt {
  int attempts = 0;                           ///< of the row, before this attempt
  std::span<const HandlerProgress> progress;  ///< of the row, before this attempt
  /// The subscribed handlers that had not handled the event when this attempt began.
  std::span<const std::string_view> open;
  std::span<const HandlerRun> runs;  ///< some of `open`
  const HandlerNames& served;        ///< handlers that some live worker hosts
  const HandlerNames& hosted;        ///< handlers that this process hosts
  Timestamp now{};                   ///< the store's clock, as well as it is known
};

struct Decision {
  Settlement settlement;
  std::vector<std::string_view> handled_by;  ///< of `open`
};

Decision decide(const EventAttempt& attempt);

/// A claim whose time ran out: how far its worker came is not known. A view, like EventAttempt.
struct ExpiredAttempt {
  int attempts = 0;                           ///< of the row, before this attempt
  std::span<const HandlerProgress> progress;  ///< of the row, as far as the handlers are still subscribed
  std::string_view last_error;  ///< of the row, like the next two; empty: nothing failed since the last replay
  std::string_view error_class;
  std::string_view fingerprint;
  std::span<const std::string> wanted;  ///< the subscribed handlers that want the event; empty: not known
  const HandlerNames& hosted;           ///< handlers of the worker that held the claim; empty: not known
  const HandlerNames& served;           ///< handlers that some live worker hosts
  Timestamp claimed_at{};
  Timestamp now{};
  double uniform01 = 0.0;  ///< for the jitter
};
/// The policy of one handler.
using PolicyOf = std::function<RetryPolicy(const std::string& handler_name)>;

/// Counts an attempt of the handlers that may have run, and of no others. What is known of each handler stays, and so
/// does the error of an earlier failure: that the claim expired is added to it.
Settlement expire(const ExpiredAttempt& attempt, const RetryPolicy& policy, const PolicyOf& policy_of);

}  // namespace sluice
