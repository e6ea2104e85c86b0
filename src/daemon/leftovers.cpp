#include "daemon/leftovers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/try.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::daemon {
namespace {

constexpr Duration kLookAgain = std::chrono::seconds{5};
constexpr Duration kNothingLeft = std::chrono::hours{1};

const store::Actor kReconciliation{"sluice", "config", "no longer declared in the configuration"};

bool hosts(const store::WorkerRecord& worker, const store::SubscriptionRecord& record) {
  return worker.generation == record.generation && std::find(worker.handlers.begin(), worker.handlers.end(),
                                                             record.subscription.handler_name) != worker.handlers.end();
}

}  // namespace

Leftovers::Leftovers(store::Store& store, Generation generation, telemetry::Logger logger)
    : store_(store), generation_(generation), logger_(std::move(logger)) {}

Result<void> Leftovers::note(const std::string& declarer, const std::set<std::string, std::less<>>& declared) {
  const std::lock_guard lock{mutex_};
  names_.clear();
  declarer_ = declarer;
  if (declarer_.empty()) return {};
  SLUICE_TRY(const auto now, store_.now());
  SLUICE_TRY(const auto registry, store_.registry(generation_));
  noted_at_ = now;
  for (const store::SubscriptionRecord& record : registry.subscriptions) {
    const std::string& name = record.subscription.handler_name;
    if (record.declared_by == declarer_ && !declared.contains(name)) names_.insert(name);
  }
  return {};
}

Leftovers::Fate Leftovers::fate_of(const store::SubscriptionRecord& record,
                                   const std::vector<store::WorkerRecord>& alive) const {
  if (!names_.contains(record.subscription.handler_name) || record.declared_by != declarer_) return Fate::leave;
  bool hosted = false;
  for (const store::WorkerRecord& worker : alive) {
    if (!hosts(worker, record)) continue;
    if (worker.started_at > noted_at_) return Fate::leave;
    hosted = true;
  }
  return hosted ? Fate::wait : Fate::withdraw;
}

Result<Duration> Leftovers::step() {
  const std::lock_guard lock{mutex_};
  if (names_.empty()) return kNothingLeft;
  SLUICE_TRY(const auto registry, store_.registry(generation_));
  SLUICE_TRY(const auto alive, store_.workers(ops::kAliveWithin));
  std::set<std::string, std::less<>> waiting;
  for (const store::SubscriptionRecord& record : registry.subscriptions) {
    const std::string& name = record.subscription.handler_name;
    const Fate fate = fate_of(record, alive);
    if (fate == Fate::wait) waiting.insert(name);
    if (fate != Fate::withdraw) continue;
    auto gone = store_.unsubscribe(generation_, name, kReconciliation);
    if (!gone && gone.error().code != ErrorCode::not_found) return std::move(gone).error();
    logger_.info("subscription removed", {{"handler_name", name}});
  }
  names_ = std::move(waiting);
  return names_.empty() ? kNothingLeft : kLookAgain;
}

}  // namespace sluice::daemon
