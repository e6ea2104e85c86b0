// Who handles what: worker processes, subscriptions, and what a removal would leave behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// Workers give a sign of life every few seconds; one that was silent for longer counts as gone.
inline constexpr Duration kAliveWithin = std::chrono::seconds{30};

struct WorkerList {
  Timestamp now{};
  std::vector<store::WorkerRecord> workers;  ///< of the last day, by identity
};
Result<WorkerList> list_workers(store::Administering& store);

/// Those that are alive.
Result<std::vector<store::WorkerRecord>> live_workers(store::Administering& store);

[[nodiscard]] bool is_alive(const store::WorkerRecord& worker, Timestamp now);
/// Whether its listener hears; the other states cost latency.
[[nodiscard]] bool is_listening(const store::WorkerRecord& worker);

std::string to_json(const store::WorkerRecord& worker, Timestamp now);

// Subscriptions: who handles what, and what a removal would leave behind.

struct SubscriptionStatus {
  store::SubscriptionRecord record;
  std::int64_t workers = 0;  ///< alive, of its generation, that host the handler
};
/// By generation and handler name.
Result<std::vector<SubscriptionStatus>> list_subscriptions(store::Administering& store);

/// At most this many pending events are looked at for a plan.
inline constexpr int kUnsubscribeLook = 10'000;

struct UnsubscribePlan {
  SubscriptionStatus subscription;
  std::int64_t waiting = 0;   ///< pending events that wait for the handler
  std::int64_t orphaned = 0;  ///< of waiting: nobody else subscribes to them, so they would stay pending
  bool complete = true;       ///< false: there are more pending events than were looked at
};
/// not_found when there is no such subscription. Changes nothing.
Result<UnsubscribePlan> plan_unsubscribe(store::Administering& store, Generation generation,
                                         const std::string& handler_name, int look = kUnsubscribeLook);

/// Removes it; answers with what it leaves behind, counted before. Needs a reason.
Result<UnsubscribePlan> unsubscribe(store::Administering& store, Generation generation, const std::string& handler_name,
                                    const store::Actor& actor);

std::string to_json(const SubscriptionStatus& status);
std::string to_json(const UnsubscribePlan& plan, bool dry_run);

}  // namespace sluice::ops
