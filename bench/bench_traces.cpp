// The daemon's own exporter for benchmarks of the library: --collector URL, and --sampled PERCENT of the traces.
#include <memory>

#include "bench/bench.hpp"
#include "otlp/otlp.hpp"

namespace sluice::bench {

std::shared_ptr<Tracer> tracer(const Options& options) {
  const std::string collector = options.text("collector", "");
  if (collector.empty()) return nullptr;
  otlp::OtlpOptions wanted;
  wanted.traces_url = collector;
  wanted.sender = {{{"service.name", "bench"}}, "bench"};
  wanted.sampler = {true, static_cast<double>(options.number("sampled", 100)) / 100};
  std::shared_ptr<telemetry::Exporting> exporting = otlp::open_otlp(std::move(wanted), {});
  Tracer* own = exporting->tracer();
  return {std::move(exporting), own};
}

}  // namespace sluice::bench
