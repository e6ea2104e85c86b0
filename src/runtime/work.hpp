// Work: one claimed event on its way through the handlers of this process.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/decide.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/registry_view.hpp"
#include "store/claim.hpp"

namespace sluice::runtime {

/// A handler that ran here, or did not have to.
struct HandlerNote {
  std::string handler_name;
  Outcome outcome;
  Duration took{};
  bool deduplicated = false;  ///< it had handled the event before, so it did not run
};

struct Work {
  store::ClaimedEvent event;
  std::chrono::steady_clock::time_point claimed{};    ///< read before the claim was asked for
  std::set<std::string, std::less<>> handled_before;  ///< by event_handled, when the attempt began
  std::vector<const RegisteredHandler*> to_run;       ///< hosted here, not handled, due
  std::vector<HandlerNote> notes;
  std::vector<HandlerRun> runs;
  std::set<std::string, std::less<>> recorded;  ///< dedup rows that are committed already
  bool release = false;                         ///< not run: given back as it was
  store::SettleItem decision;

  [[nodiscard]] Route route() const;
  /// The store's clock, as well as it is known: its time at the claim, and what has passed here since.
  [[nodiscard]] Timestamp store_now() const;
  [[nodiscard]] bool has_run(const std::string& handler) const;
  void note(const RegisteredHandler& handler, Outcome outcome, Duration took, double uniform01);
};

/// Looks up who has handled these events already, among the handlers that are asked about: one list per work. Notes it
/// in `handled_before`.
using HandlerList = std::span<const std::string>;
Result<void> find_handled(store::Claiming& store, std::span<Work> works, std::span<const HandlerList> handlers);

struct DecisionInput {
  const RegistrySnapshot& registry;
  RouteMemo& routes;  ///< of that registry
  const HandlerSet& hosted;
};

/// What an event that could not be read comes to, whoever subscribes to it: another look would find the same.
Outcome unreadable_outcome(const store::ClaimedEvent& event);

/// Fills in `decision` from what ran. Repeatable with a newer registry.
void decide_work(Work& work, const DecisionInput& input);

}  // namespace sluice::runtime
