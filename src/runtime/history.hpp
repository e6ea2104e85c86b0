// HistoryLog: writes what this process has delivered into the store's history, every minute. Several processes add up.
#pragma once

#include <sluice/result.hpp>
#include "store/maintain.hpp"
#include "telemetry/history.hpp"

namespace sluice::runtime {

class HistoryLog {
 public:
  /// The references outlive it.
  HistoryLog(store::Maintaining& store, telemetry::DeliveryHistory& history) : store_(store), history_(history) {}

  /// Writes what is there. What could not be written is kept for the next step; after an answer that was lost it is
  /// dropped, because a minute that is missing is better than one that counts twice.
  Result<void> step();

 private:
  store::Maintaining& store_;
  telemetry::DeliveryHistory& history_;
};

}  // namespace sluice::runtime
