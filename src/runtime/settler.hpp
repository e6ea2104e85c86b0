// Settler: hands the decisions on claimed events to the store, keeps them while the store is away,
// decides again when the subscriptions have changed, and accounts for what became of each event.
//
// Thread-safety: none; belongs to one worker.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/tracer.hpp>
#include "runtime/telemetry.hpp"
#include "runtime/work.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct SettlerOptions {
  int settle_attempts = 5;  ///< after this many failures the claims are left to the reaper
  FailureListener on_failed;
  telemetry::MetricSet* metrics = nullptr;  ///< none: nothing is measured
  /// Told of each event that was settled, or was fenced.
  std::function<void(const Work& work, bool fenced)> on_settled{};
  AttemptRules attempts{};
  Tracer* tracer = nullptr;  ///< none: nothing is traced
  /// Where events count although nothing is measured here: a relay's, whose handlers are measured elsewhere.
  telemetry::DeliveryHistory* history = nullptr;
};

class Settler {
 public:
  /// The references outlive the settler.
  Settler(store::Claiming& store, RegistryView& registry, const HandlerSet& handlers, telemetry::Logger logger,
          SettlerOptions options);

  /// An event that is ready to be settled.
  void add(Work&& work);
  [[nodiscard]] bool empty() const { return works_.empty(); }

  /// Settles everything that was added, in one call. After an error that allows it the works are kept
  /// for the next call; else they are dropped, and their claims run out.
  Result<StepReport> settle();

  /// Counts, logs and reports works that were settled in a transaction of their own.
  StepReport account(std::span<const Work> works, const store::SettleReport& settled, bool in_doubt);

 private:
  Result<store::SettleReport> try_settle();
  void note_failure(const Error& error);
  void log(const Work& work, std::string_view result) const;
  void clear();

  store::Claiming& store_;
  RegistryView& registry_;
  const HandlerSet& handlers_;
  telemetry::Logger logger_;
  SettlerOptions options_;
  SettleObserver observer_;
  std::vector<Work> works_;
  int failures_ = 0;
  bool in_doubt_ = false;
};

}  // namespace sluice::runtime
