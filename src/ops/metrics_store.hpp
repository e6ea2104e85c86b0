// What was seen of the store, as metrics.
#pragma once

#include <set>

#include "core/ladder.hpp"
#include "store/administer.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::ops {

/// Each of `generations` has its figures, zero where there is nothing: a gauge that vanishes looks like a daemon that
/// is gone.
void show_gauges(telemetry::StoreMetrics& metrics, const store::StoreGauges& gauges,
                 const std::set<Generation>& generations);
void show_workers(telemetry::StoreMetrics& metrics, const std::vector<store::WorkerRecord>& alive);
/// What the diagnosis does not have disappears from the metrics.
void show_diagnosis(telemetry::StoreMetrics& metrics, const store::Diagnosis& diagnosis);

/// The step that is due is 1, the others that there are 0.
void show_ladder(telemetry::StoreMetrics& metrics, const LadderVerdict& verdict);

void show_relay(telemetry::StoreMetrics& metrics, const store::RelaySwitch& relay);

/// How long the event that waits for longest has been due, in seconds.
double oldest_age_seconds(const store::GenerationGauges& gauges, Timestamp now);

}  // namespace sluice::ops
