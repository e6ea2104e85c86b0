// The settle decision: what becomes of a claimed event after an attempt, and how far the handlers of an event have come
// where it has several. Pure; the store obeys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/handler.hpp>
#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>
#include "core/failure.hpp"
#include "core/status.hpp"

namespace sluice {

/// One handler that has not handled the event yet.
struct HandlerProgress {
  std::string handler_name;
  int attempts = 0;              ///< failed attempts of this handler since the last replay
  Timestamp due{};               ///< not before
  bool out_of_attempts = false;  ///< or failed for good: it will not be tried again before a replay
  std::string last_error;        ///< of its latest failure
  std::string error_class;
  std::string fingerprint;
  std::int64_t deliveries = 0;  ///< of a message: how often the broker had delivered it when this was written
  /// Not part of this replay, which went to another handler alone; then `out_of_attempts` as well. With attempts it is
  /// what the event fails for when the other has handled it.
  bool aside = false;

  bool operator==(const HandlerProgress&) const = default;
};

/// As the stores keep it: an array of objects; empty text for none.
std::string progress_to_json(const std::vector<HandlerProgress>& progress);
/// Members that are missing have their defaults; unknown ones are ignored. Empty text gives none.
Result<std::vector<HandlerProgress>> progress_from_json(std::string_view json);

/// How an attempt ended.
struct Outcome {
  enum class Kind { handled, failed, deferred, released, expired };
  Kind kind = Kind::handled;
  Failure failure;                      ///< failed; released: what a run that was cut short said, if anything
  std::optional<Duration> retry_after;  ///< failed: the peer asked for at least this long (capped at an hour)
  std::optional<Timestamp> not_before;  ///< deferred
  std::optional<Duration> wait;         ///< deferred: for this long from the store's now instead
  Response response{};                  ///< what the receiver answered, if one did

  static Outcome handled() { return {}; }
  static Outcome failed(Failure failure) { return {Kind::failed, std::move(failure), {}, {}, {}}; }
  static Outcome deferred(Timestamp until) { return {Kind::deferred, {}, {}, until, {}}; }
  static Outcome deferred_for(Duration wait) { return {Kind::deferred, {}, {}, {}, wait}; }
  static Outcome released(Failure said = {}) { return {Kind::released, std::move(said), {}, {}, {}}; }
  static Outcome expired() { return {Kind::expired, {}, {}, {}, {}}; }
};

/// The next state and how to get there.
struct Settlement {
  Status next = Status::delivered;
  Cause cause = Cause::deliver;
  bool counts_attempt = false;          ///< attempts + 1
  bool records_error = false;           ///< last_error and what belongs to it are set, first_failed_at if unset
  Duration delay{};                     ///< pending: due this long after the store's now
  std::optional<Timestamp> not_before;  ///< pending: due at this time instead
  std::string last_error;               ///< when recorded
  std::string error_class;              ///< when recorded
  std::string fingerprint;              ///< when recorded
  /// The handlers that are still to run, where the event has several; see core/decide.hpp.
  std::vector<HandlerProgress> progress;
  /// pending: the one scope whose workers need to look; empty: any.
  std::string lane;
};

/// `attempts` are the failed attempts since the last replay, before this one; `uniform01` is in [0, 1).
Settlement settle(int attempts, const Outcome& outcome, const RetryPolicy& policy, double uniform01);

}  // namespace sluice
