#include "otlp/sampler.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::otlp {
namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 56U;

}  // namespace

Sampler::Sampler(SamplerRules rules)
    : by_parent_(rules.by_parent),
      threshold_(static_cast<std::uint64_t>(
          std::llround((1 - std::clamp(rules.ratio, 0.0, 1.0)) * static_cast<double>(kAll)))) {}

bool Sampler::samples(std::optional<bool> parent, std::uint64_t trace_low) const {
  if (by_parent_ && parent) return *parent;
  return (trace_low & (kAll - 1)) >= threshold_;
}

}  // namespace sluice::otlp
