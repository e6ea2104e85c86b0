// Reaper: takes back the events of workers that went away, counting an attempt.
//
// Any number of reapers may run at once: each settle is fenced by the claim that it saw expired.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "runtime/work.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct ReaperOptions {
  RetryPolicy retry;                  ///< of handlers that `retry_of` does not know
  std::function<double()> uniform01;  ///< random numbers in [0, 1) for the jitter; from any thread
  FailureListener on_failed{};        ///< told the id and the error only
  /// The policy of a handler, as far as it is known here.
  std::function<std::optional<RetryPolicy>(const std::string& handler_name)> retry_of{};
  /// Which pool of its process hosts a handler, as far as it is known here; see PoolOptions::name.
  std::function<std::optional<std::string>(const std::string& handler_name)> pool_of{};
  Duration alive_within = std::chrono::seconds{30};  ///< a worker not seen for longer serves nothing
};

class Reaper {
 public:
  /// The references outlive the reaper.
  Reaper(store::Maintaining& expired, store::Claiming& claims, store::Observing& registry, telemetry::Logger logger,
         ReaperOptions options);

  /// One batch of at most `limit`. In the report `claimed` is how many claims had expired.
  Result<StepReport> step(int limit);

  /// Takes back these claims as if their time had run out.
  Result<StepReport> take_back(const std::vector<store::ExpiredClaim>& claims);

 private:
  struct Surroundings;
  Result<Surroundings> look_around(const std::vector<store::ExpiredClaim>& claims);
  [[nodiscard]] store::SettleItem decide(const store::ExpiredClaim& claim, const Surroundings& around) const;
  [[nodiscard]] bool may_have_run(const std::string& handler_name, std::string_view pool) const;
  [[nodiscard]] RetryPolicy policy_of(const std::string& handler_name) const;

  store::Maintaining& expired_;
  store::Claiming& claims_;
  store::Observing& registry_;
  telemetry::Logger logger_;
  ReaperOptions options_;
};

/// Orphans are events that a process of this machine held when it was killed. Their claims would run out by themselves;
/// where it can be proved that the process is gone, whoever starts next need not wait for that.
struct Machine {
  std::string identity;                           ///< of a process here; see host::worker_identity()
  std::function<bool(std::int64_t pid)> is_gone;  ///< true only when no process of this machine has the id
};

/// True only for a process of the same host, boot and process table whose id nobody has any more.
bool provably_gone(const std::string& identity, const Machine& machine);

/// Takes back what workers that are provably gone still hold, each claim counting as an expired one, and signs them
/// off. In the report `claimed` is how many events were found. Safe beside other processes that do the same.
Result<StepReport> take_back_orphans(store::Store& store, const Machine& machine, Reaper& reaper,
                                     const telemetry::Logger& logger);

}  // namespace sluice::runtime
