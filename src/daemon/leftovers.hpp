// Leftovers: subscriptions that this daemon has declared before and does not declare any more. While one stands, every
// event that it matches waits for it.
//
// One that a live worker still hosts is left to it: in a rolling deployment the last of the old daemons goes first. So
// is one that a worker hosts which started later: somebody has put it back.
//
// Thread-safety: any number of threads.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>

#include <sluice/result.hpp>
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::daemon {

class Leftovers {
 public:
  /// The store outlives it.
  Leftovers(store::Store& store, Generation generation, telemetry::Logger logger);

  /// What is there now under the name of `declarer` and is not among `declared`.
  Result<void> note(const std::string& declarer, const std::set<std::string, std::less<>>& declared);

  /// Withdraws those that nobody hosts, each with an audit record; how long to rest then.
  Result<Duration> step();

 private:
  enum class Fate { withdraw, wait, leave };
  [[nodiscard]] Fate fate_of(const store::SubscriptionRecord& record,
                             const std::vector<store::WorkerRecord>& alive) const;

  store::Store& store_;
  Generation generation_;
  telemetry::Logger logger_;
  std::mutex mutex_;  // guards the rest, and is held by who steps
  std::string declarer_;
  Timestamp noted_at_{};
  std::set<std::string, std::less<>> names_;
};

}  // namespace sluice::daemon
