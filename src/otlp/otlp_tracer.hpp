// The tracer of the daemon and the command line: what it records goes into a queue.
//
// Thread-safety: any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <sluice/tracer.hpp>
#include "host/entropy.hpp"
#include "otlp/export_queue.hpp"
#include "otlp/otlp.hpp"

namespace sluice::otlp {

struct OtlpTracerOptions {
  SamplerRules sampler;
  std::function<Timestamp()> clock = host::wall_clock;
  std::function<std::uint64_t()> random = host::quick_number;
};

class OtlpTracer final : public Tracer {
 public:
  /// The queue outlives the tracer and its spans.
  OtlpTracer(SpanQueue& queue, OtlpTracerOptions options);

  /// A span without a parent that has links is sampled when one of those is: a claim is part of the story of each of
  /// its events.
  std::unique_ptr<Span> start(const SpanStart& wanted) override;

 private:
  class Recorded;
  class PassedOn;
  std::uint64_t fresh_id();

  SpanQueue& queue_;
  OtlpTracerOptions options_;
  Sampler sampler_;
};

/// More links than this are counted only.
inline constexpr std::size_t kMostLinks = 128;

}  // namespace sluice::otlp
