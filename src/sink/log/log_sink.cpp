#include "sink/log/log_sink.hpp"

#include "core/utf8.hpp"

namespace sluice::sink {

LogSink::LogSink(telemetry::Logger logger, LogSinkOptions options)
    : logger_(std::move(logger)), options_(std::move(options)) {}

std::vector<Outcome> LogSink::deliver(std::span<const store::ClaimedEvent> events) {
  for (const store::ClaimedEvent& event : events) write(event);
  return std::vector<Outcome>(events.size(), Outcome::handled());
}

void LogSink::write(const store::ClaimedEvent& event) const {
  const EventEnvelope& envelope = event.envelope;
  const auto workspace = envelope.workspace_id();
  const std::string_view payload = utf8::prefix(envelope.payload(), options_.payload_bytes);
  logger_.with_generation(event.generation)
      .with_trace_context(envelope.trace_context())
      .info("event received", {
                                  {"event_id", envelope.event_id().to_string()},
                                  {"event_type", envelope.event_type()},
                                  {"source", envelope.source()},
                                  {"target", envelope.target()},
                                  {"workspace_id", workspace ? std::optional{workspace->to_string()} : std::nullopt},
                                  {"attempts", event.attempts},
                                  {"handler_name", options_.handler_name},
                                  {"payload", payload},
                                  {"payload_cut", payload.size() < envelope.payload().size()},
                              });
}

}  // namespace sluice::sink
