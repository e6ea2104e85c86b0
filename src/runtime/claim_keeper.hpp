// ClaimKeeper: keeps the claims of running handlers alive, tells a handler that has lost its claim, and
// asks one to stop that has run for too long.
//
// Thread-safety: any number of threads hold; one thread steps.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

#include <sluice/result.hpp>
#include "store/claim.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct ClaimKeeperOptions {
  Duration ttl = std::chrono::seconds{300};
  /// Default: std::chrono::steady_clock.
  std::function<std::chrono::steady_clock::time_point()> clock;
};

class ClaimKeeper {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The claims of one batch, from the claim until they are settled.
  class Hold {
   public:
    Hold(ClaimKeeper& keeper, std::vector<store::ClaimRef> claims, TimePoint claimed);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    /// A handler begins with these events. One run at a time.
    std::stop_token begin(std::vector<Uuid> events, Duration timeout);
    /// It has returned. True when its time had run out before.
    bool end();
    /// These are settled, or will be left to expire.
    void forget(const Uuid& event);
    [[nodiscard]] bool lost(const Uuid& event) const;

   private:
    friend class ClaimKeeper;
    // Without initialisers of its own: clang cannot use those before the outer class is complete.
    struct Run {
      std::vector<Uuid> events;
      [[nodiscard]] bool runs(const Uuid& event) const;
      std::stop_source stop;
      std::optional<TimePoint> deadline;
      bool timed_out;
    };

    ClaimKeeper& keeper_;
    mutable std::mutex mutex_;
    [[nodiscard]] std::span<const store::ClaimRef> held() const { return std::span{claims_}.subspan(forgotten_); }
    std::vector<store::ClaimRef> claims_;
    std::size_t forgotten_ = 0;  // at the front: events are settled in the order in which they were claimed
    std::set<Uuid> lost_;
    TimePoint renewed_;
    std::optional<Run> run_;
  };

  ClaimKeeper(store::Claiming& store, telemetry::Logger logger, ClaimKeeperOptions options);

  /// `claimed` was read before the claim was asked for, so that the deadline errs to the safe side.
  std::unique_ptr<Hold> hold(std::vector<store::ClaimRef> claims, TimePoint claimed);
  [[nodiscard]] TimePoint now() const { return options_.clock(); }

  /// Renews what has a third of its time behind it and looks after deadlines. Returns how long to rest.
  Result<Duration> step();

  /// Asks every running handler to stop, and those that begin from now on: the process has to end.
  void stop_runs();

 private:
  struct Due {
    std::vector<store::ClaimRef> claims;
    std::vector<Hold*> holds;
  };
  Due expire_and_collect(TimePoint now);
  void mark_lost(const std::vector<Uuid>& lost, const Due& renewed, TimePoint now);

  store::Claiming& store_;
  telemetry::Logger logger_;
  ClaimKeeperOptions options_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // before a hold's own
  std::set<Hold*> holds_;
};

}  // namespace sluice::runtime
