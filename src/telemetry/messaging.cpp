#include "telemetry/messaging.hpp"

namespace sluice::telemetry {

std::unique_ptr<Span> start_messaging(Tracer& tracer, const MessagingStart& wanted) {
  auto span = tracer.start({.kind = wanted.kind,
                            .operation = wanted.operation,
                            .destination = wanted.destination,
                            .parent = wanted.parent,
                            .links = wanted.links,
                            .started_at = wanted.started_at});
  if (!span || !span->recording()) return span;
  span->set("messaging.system", wanted.system);
  span->set("messaging.operation.name", wanted.operation);
  span->set("messaging.operation.type", wanted.type);
  if (!wanted.destination.empty()) span->set("messaging.destination.name", wanted.destination);
  if (wanted.events != 1) span->set("messaging.batch.message_count", static_cast<std::int64_t>(wanted.events));
  return span;
}

std::unique_ptr<Span> start_publish(Tracer& tracer, const PublishStart& wanted) {
  const bool continues = wanted.surrounding.empty() && wanted.events == 1 && !wanted.own.empty();
  MessagingStart start{SpanKind::producer, "publish", "send", wanted.event_type};
  start.parent = continues ? wanted.own.front() : wanted.surrounding;
  if (!continues) start.links = wanted.own;
  start.events = wanted.events;
  return start_messaging(tracer, start);
}

void note_error(Span* span, const Error& error) {
  if (span != nullptr) span->fail(name(error.code), error.message);
}

}  // namespace sluice::telemetry
