#include "ops/publish_trace.hpp"

#include <vector>

#include "core/generation.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::ops {

std::unique_ptr<Span> begin_publish(Tracer* tracer, std::span<PublishRequest> requests,
                                    std::optional<std::string_view> surrounding) {
  if (surrounding && !check_trace_context(*surrounding)) surrounding.reset();
  std::unique_ptr<Span> span;
  if (tracer != nullptr && !requests.empty()) {
    std::vector<std::string_view> own;
    telemetry::PublishStart start{.event_type = requests.front().event_type};
    for (const PublishRequest& request : requests) {
      if (request.trace_context) own.emplace_back(*request.trace_context);
      if (request.event_type != start.event_type) start.event_type = {};
    }
    start.surrounding = surrounding.value_or(std::string_view{});
    start.own = own;
    start.events = requests.size();
    span = telemetry::start_publish(*tracer, start);
  }
  if (span) surrounding = span->traceparent();
  for (PublishRequest& request : requests) {
    if (surrounding && !request.trace_context) request.trace_context = std::string{*surrounding};
  }
  return span;
}

void describe(Span* span, std::span<const store::NewEvent> events) {
  if (span == nullptr || !span->recording() || events.empty()) return;
  if (events.size() == 1) span->set("messaging.message.id", events.front().envelope.event_id().to_string());
  span->set("sluice.generation", events.front().generation);
}

Result<store::ReplayReport> traced(Tracer* tracer, store::Administering& store, const Uuid& id,
                                   std::string_view operation,
                                   const std::function<Result<store::ReplayReport>()>& run_again) {
  if (tracer == nullptr) return run_again();
  const auto event = store.get_event(id);
  if (!event) return run_again();  // which will say so
  const EventEnvelope& envelope = event->envelope;
  telemetry::MessagingStart start{SpanKind::producer, operation, "send", envelope.event_type()};
  if (envelope.trace_context()) start.parent = *envelope.trace_context();
  const auto span = telemetry::start_messaging(*tracer, start);
  if (span && span->recording()) span->set("messaging.message.id", id.to_string());
  auto report = run_again();
  if (!report) telemetry::note_error(span.get(), report.error());
  return report;
}

std::unique_ptr<Span> begin_step(Tracer* tracer, const store::OperationRecord& operation, std::int64_t events) {
  if (tracer == nullptr) return nullptr;
  telemetry::MessagingStart start{SpanKind::producer, name(operation.progress.kind), "send", "operation"};
  start.events = static_cast<std::size_t>(events);
  auto span = telemetry::start_messaging(*tracer, start);
  if (span && span->recording()) span->set("sluice.operation.id", operation.id.to_string());
  return span;
}

}  // namespace sluice::ops
