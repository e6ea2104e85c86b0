// Which spans are recorded. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "core/trace_context.hpp"

namespace sluice::otlp {

/// The samplers of OTEL_TRACES_SAMPLER: `parentbased_always_on` is {true, 1}, `always_off` is {false, 0}.
struct SamplerRules {
  bool by_parent = true;  ///< whoever began the trace has decided for all of it
  double ratio = 1;       ///< of the traces that begin here, and of all spans where no parent decides; 0 to 1
};

class Sampler {
 public:
  explicit Sampler(SamplerRules rules);

  /// `parent`: whether it was sampled; none: the trace begins here. `trace_low` as in TraceContext: the same trace gets
  /// the same answer in every process with this ratio.
  [[nodiscard]] bool samples(std::optional<bool> parent, std::uint64_t trace_low) const;

 private:
  bool by_parent_;
  std::uint64_t threshold_;  // of the lower 56 bits: what is at least so much is recorded
};

}  // namespace sluice::otlp
