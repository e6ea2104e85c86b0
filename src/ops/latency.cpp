#include "ops/latency.hpp"

#include <cassert>
#include <numeric>

namespace sluice::ops {

std::optional<double> quantile(std::span<const double> bounds, std::span<const std::uint64_t> counts, double q) {
  assert(!bounds.empty() && counts.size() == bounds.size() + 1);
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (total == 0) return std::nullopt;
  const double wanted = q * static_cast<double>(total);
  double below = 0;
  for (std::size_t at = 0; at < bounds.size(); ++at) {
    const auto here = static_cast<double>(counts[at]);
    if (here > 0 && below + here >= wanted) {
      const double lower = at == 0 ? 0 : bounds[at - 1];
      return lower + (bounds[at] - lower) * (wanted - below) / here;
    }
    below += here;
  }
  return bounds.back();
}

}  // namespace sluice::ops
