#include "telemetry/publish_line.hpp"

namespace sluice::telemetry {

void log_published(const Logger& logger, const EventEnvelope& event, bool fresh) {
  const auto& workspace = event.workspace_id();
  logger.with_trace_context(event.trace_context())
      .info(fresh ? "event published" : "event was published before",
            {{"event_id", event.event_id().to_string()},
             {"event_type", event.event_type()},
             {"source", event.source()},
             {"target", event.target()},
             {"workspace_id", workspace ? std::optional{workspace->to_string()} : std::nullopt}});
}

}  // namespace sluice::telemetry
