// The metrics of a registry as text, in the two formats that scrapers read.
#pragma once

#include <string>
#include <string_view>

#include "telemetry/metrics.hpp"

namespace sluice::telemetry {

enum class MetricsFormat { prometheus, openmetrics };

/// What an Accept header asks for; everything but OpenMetrics is answered with the older format.
MetricsFormat metrics_format(std::string_view accept);
std::string_view content_type(MetricsFormat format);

/// Families by name, series by labels: the same metrics are always the same text.
std::string expose(const Registry& registry, MetricsFormat format = MetricsFormat::prometheus);

}  // namespace sluice::telemetry
