// Work: one claimed event on its way through the handlers of this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/alert.hpp"
#include "core/decide.hpp"
#include "runtime/handler_set.hpp"
#include "store/claim.hpp"

namespace sluice::runtime {

/// Called with `claimed`, `before_settle` and `settled`, on the worker's thread.
using TestPoint = std::function<void(std::string_view place)>;

/// Called on the delivering threads, after the failure is settled: it must not block. Empty: nobody.
using FailureListener = std::function<void(FailureNotice)>;

/// Events are counted when their batch is settled.
struct StepReport {
  std::int64_t claimed = 0;
  std::int64_t delivered = 0;
  std::int64_t retried = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;      ///< deferred by the sink, or given back
  std::int64_t fenced = 0;        ///< the claim was lost before the settle
  std::int64_t deduplicated = 0;  ///< of delivered: acknowledged without running the handler
  std::map<std::string, std::int64_t, std::less<>> failures_by_class;  ///< failed runs of handlers

  StepReport& operator+=(const StepReport& other) {
    claimed += other.claimed;
    delivered += other.delivered;
    retried += other.retried;
    failed += other.failed;
    released += other.released;
    fenced += other.fenced;
    deduplicated += other.deduplicated;
    for (const auto& [error_class, count] : other.failures_by_class) failures_by_class[error_class] += count;
    return *this;
  }
};

/// When a handler ran.
struct RunTime {
  std::chrono::steady_clock::time_point began{};
  Duration took{};
};

/// A handler that ran here, or did not have to.
struct HandlerNote {
  std::string handler_name;
  Outcome outcome;
  RunTime time{};
  bool deduplicated = false;           ///< it had handled the event before, so it did not run
  std::string traceparent{};           ///< of the span that it ran in; empty: none
  const RetryPolicy* retry = nullptr;  ///< the handler's own, which outlives the work; none: it did not run
  double uniform01 = 0.0;              ///< for the jitter
};

struct Work {
  // In place: a batch has a thousand of them, and each is large.
  Work(store::ClaimedEvent&& claimed_event, std::chrono::steady_clock::time_point when)
      : event(std::move(claimed_event)), claimed(when) {}

  store::ClaimedEvent event;
  std::chrono::steady_clock::time_point claimed{};    ///< read before the claim was asked for
  std::set<std::string, std::less<>> handled_before;  ///< by event_handled, when the attempt began
  std::vector<const RegisteredHandler*> to_run;       ///< hosted here, not handled, due
  std::vector<HandlerNote> notes;
  std::set<std::string, std::less<>> recorded;  ///< dedup rows that are committed already
  bool release = false;                         ///< not run: given back as it was
  std::string held_by{};                        ///< who holds the claim, where it is not a worker of this process
  store::SettleItem decision;

  [[nodiscard]] Route route() const;
  /// The store's clock, as well as it is known: its time at the claim, and what has passed here since.
  [[nodiscard]] Timestamp store_now() const;
  [[nodiscard]] Timestamp store_time(std::chrono::steady_clock::time_point at) const;
  [[nodiscard]] bool has_run() const;
  [[nodiscard]] bool has_run(const std::string& handler) const;
  struct Ran {
    Outcome outcome;
    RunTime time{};
    std::string traceparent{};  ///< as in HandlerNote
  };
  /// The handler outlives the work.
  void note(const RegisteredHandler& handler, Ran ran, double uniform01);
};

/// Looks up who has handled these events already, among the handlers that are asked about: one list per work. Notes it
/// in `handled_before`.
using HandlerList = std::span<const std::string>;
Result<void> find_handled(store::Claiming& store, std::span<Work> works, std::span<const HandlerList> handlers);

/// Looks up which of these events were replayed, and when: those that were claimed before.
Result<void> find_replays(store::Claiming& store, std::span<Work> works);

/// Who runs the handlers, and what of it is written down.
struct AttemptRules {
  std::string worker;             ///< as the claim names it
  bool record_successes = false;  ///< also of events that are delivered at their first attempt
};

struct DecisionInput {
  const RegistrySnapshot& registry;
  RouteMemo& routes;  ///< of that registry
  const HandlerSet& hosted;
  AttemptRules attempts{};
};

/// What an event that could not be read comes to, whoever subscribes to it: reading it again would find the same.
Outcome unreadable_outcome(const store::ClaimedEvent& event);

/// Fills in `decision` from what ran. Repeatable with a newer registry.
void decide_work(Work& work, const DecisionInput& input);

}  // namespace sluice::runtime
