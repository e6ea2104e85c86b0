// PullSettling: what a worker in another language reports about events that it holds. It keeps nothing: what it needs
// is in the token or read from the store, so that any daemon of the store will do. The decision is the one that every
// handler's outcome goes through.
//
// Thread-safety: any number of threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "core/settle.hpp"
#include "runtime/pull_token.hpp"
#include "runtime/work.hpp"
#include "store/claim.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics_set.hpp"

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

/// Workers that pull are workers: while one asks, settles or renews, its handler counts as served, and the workers'
/// list shows it.
///
/// Thread-safety: any number of threads.
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

struct PullSettlement {
  PullToken token;
  Outcome outcome;  ///< handled, failed, deferred or released
};

struct PullVerdict {
  enum class Kind {
    settled,
    fenced,    ///< the claim was lost before: nothing was changed, but what was handled is recorded as handled
    unknown,   ///< the store has no such event (any more)
    repeated,  ///< an earlier settlement of the same call has the same claim: nothing was done for this one
  };
  Kind kind = Kind::unknown;
  Status status = Status::pending;  ///< of the event, when settled
};
std::string_view name(PullVerdict::Kind kind);

struct PullSettlingOptions {
  std::function<RetryPolicy(const std::string& handler_name)> retry;  ///< none: the standard policy
  std::function<double()> uniform01;                                  ///< for the jitter; from any thread
  FailureListener on_failed{};
  telemetry::MetricSet* metrics = nullptr;
  bool record_successes = false;  ///< see WorkerOptions
  /// An event is pending again: another handler, or another try, may be due. None: nobody is told.
  std::function<void()> claimable{};
  Tracer* tracer = nullptr;  ///< none: nothing is traced
};

class PullSettling {
 public:
  /// The references outlive it.
  PullSettling(store::Store& store, PullPresence& presence, telemetry::Logger logger, PullSettlingOptions options);

  /// The store's clock.
  [[nodiscard]] Result<Timestamp> now() const { return store_.now(); }

  /// What its callers hold.
  [[nodiscard]] PullTokens& tokens() { return tokens_; }

  /// In the order of the settlements. After an error that is in doubt the same call may be repeated; what the lost
  /// one settled is then fenced.
  Result<std::vector<PullVerdict>> settle(std::span<const PullSettlement> settlements);

  /// Renews the claims for another `ttl`. Returns the positions of those that were lost.
  Result<std::vector<std::size_t>> heartbeat(std::span<const PullToken> tokens, Duration ttl);

  /// Settles events that their handler has handled before, and those that cannot be read.
  Result<void> acknowledge(std::vector<store::ClaimedEvent> events, const std::string& handler_name);

 private:
  struct Batch;
  Result<void> settle_generation(Batch& batch);
  void note_presence(const PullToken& token);

  store::Store& store_;
  PullPresence& presence_;
  PullTokens tokens_{store_};
  telemetry::Logger logger_;
  PullSettlingOptions options_;
};

}  // namespace sluice::runtime
