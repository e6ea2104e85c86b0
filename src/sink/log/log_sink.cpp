#include "sink/log/log_sink.hpp"

#include <chrono>
#include <utility>

#include "core/utf8.hpp"

namespace sluice::sink {

LogSink::LogSink(telemetry::Logger logger, LogSinkOptions options)
    : SwitchedSink({options.name, "log", "the log", options.rate}, options.clock),
      logger_(std::move(logger)),
      options_(std::move(options)) {}

std::vector<Verdict> LogSink::carry(std::span<const EventEnvelope> events, const Delivery& delivery) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto began = std::chrono::steady_clock::now();
    write(events[i], delivery, i);
    record_latency(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began));
  }
  return std::vector<Verdict>(events.size());
}

void LogSink::write(const EventEnvelope& envelope, const Delivery& delivery, std::size_t event) const {
  const auto workspace = envelope.workspace_id();
  const std::string_view payload = utf8::prefix(envelope.payload(), options_.payload_bytes);
  const telemetry::Logger own = logger_.with_generation(delivery.generation);
  const std::string_view span = delivery.traceparent(event);
  (span.empty() ? own.with_trace_context(envelope.trace_context()) : own.with_span(span))
      .info("event received", {
                                  {"event_id", envelope.event_id().to_string()},
                                  {"event_type", envelope.event_type()},
                                  {"source", envelope.source()},
                                  {"target", envelope.target()},
                                  {"workspace_id", workspace ? std::optional{workspace->to_string()} : std::nullopt},
                                  {"attempts", delivery.attempts[event]},
                                  {"handler_name", delivery.handler_name},
                                  {"payload", payload},
                                  {"payload_cut", payload.size() < envelope.payload().size()},
                              });
}

}  // namespace sluice::sink
