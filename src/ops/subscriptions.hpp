// Subscriptions: who handles what, and what a removal would leave behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::ops {

struct SubscriptionStatus {
  store::SubscriptionRecord record;
  std::int64_t workers = 0;  ///< alive, of its generation, that host the handler
};
/// By generation and handler name.
Result<std::vector<SubscriptionStatus>> list_subscriptions(store::Store& store);

/// At most this many pending events are looked at for a plan.
inline constexpr int kUnsubscribeLook = 10'000;

struct UnsubscribePlan {
  SubscriptionStatus subscription;
  std::int64_t waiting = 0;   ///< pending events that wait for the handler
  std::int64_t orphaned = 0;  ///< of waiting: nobody else subscribes to them, so they would stay pending
  bool complete = true;       ///< false: there are more pending events than were looked at
};
/// not_found when there is no such subscription. Changes nothing.
Result<UnsubscribePlan> plan_unsubscribe(store::Store& store, Generation generation, const std::string& handler_name,
                                         int look = kUnsubscribeLook);

/// Removes it; answers with what it leaves behind, counted before. Needs a reason.
Result<UnsubscribePlan> unsubscribe(store::Store& store, Generation generation, const std::string& handler_name,
                                    const store::Actor& actor);

std::string to_json(const SubscriptionStatus& status);
std::string to_json(const UnsubscribePlan& plan, bool dry_run);

}  // namespace sluice::ops
