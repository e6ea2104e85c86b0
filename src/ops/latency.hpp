// Percentiles from the buckets of a histogram. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice::ops {

/// The value below which the share `q` (0 to 1) of what was counted lies, taken as evenly spread within its bucket.
/// `counts` has one bucket more than there are bounds; what is in that one counts as the last bound. None: nothing
/// was counted.
std::optional<double> quantile(std::span<const double> bounds, std::span<const std::uint64_t> counts, double q);

}  // namespace sluice::ops
