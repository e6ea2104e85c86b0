// LadderLog: writes down every few minutes what tells whether a step of the ladder is due: how many rows are kept, how
// long deliveries take, what went wrong in the database. `sluice ladder status` judges a week of it.
//
// Every process that delivers adds its own deliveries to one row per hour, so there is no lease: whoever comes merges.
#pragma once

#include <cstdint>
#include <vector>

#include <sluice/result.hpp>
#include "store/maintain.hpp"
#include "store/observe.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::runtime {

class LadderLog {
 public:
  /// The references outlive it. What was delivered before does not count.
  LadderLog(store::Observing& observing, store::Maintaining& maintaining, telemetry::MetricSet& metrics);

  /// Adds what has happened since the last step that succeeded.
  Result<void> step();
  /// For the end of a process: writes down what it delivered since, if anything. What fails is lost.
  void flush();

 private:
  [[nodiscard]] std::vector<std::uint64_t> delivered() const;

  store::Observing& observing_;
  store::Maintaining& maintaining_;
  telemetry::MetricSet& metrics_;
  std::vector<std::uint64_t> written_;  // of the histogram
};

/// What a server looks like at this moment, for its sample; without latencies. Of a file nothing is known here.
LadderSample sample_of(const store::Diagnosis& diagnosis);

}  // namespace sluice::runtime
