// PullPresence: workers that pull are workers: while one asks, settles or renews, its handler counts as served, and the
// workers' list shows it.
//
// Thread-safety: any number of threads.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include <sluice/result.hpp>
#include "store/claim.hpp"

namespace sluice::runtime {

/// Under which name a worker that pulls claims: `pull:billing.mailer:host-7`. It names no process of this machine, so
/// that its claims outlive the daemon.
struct PullWorker {
  std::string handler_name;
  std::string name;

  [[nodiscard]] std::string identity() const { return "pull:" + handler_name + ":" + name; }
  /// 1 to 64 of letters, digits and `._:-@[]`; the error names `worker`.
  [[nodiscard]] Result<void> validate() const;
};

class PullPresence {
 public:
  /// The store outlives it.
  PullPresence(store::Claiming& store, Generation generation);

  /// Says that the worker is there, unless it was said a moment ago.
  Result<void> note(const PullWorker& worker);

  /// A worker that waits must be noted at least this often to count as alive.
  static constexpr std::chrono::seconds kInterval{10};

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  bool is_due(const std::string& identity, TimePoint now);

  store::Claiming& store_;
  Generation generation_;
  std::mutex mutex_;
  std::map<std::string, TimePoint> noted_;
};

}  // namespace sluice::runtime
