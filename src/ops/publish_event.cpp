#include "ops/publish_event.hpp"

#include <span>
#include <utility>

namespace sluice::ops {

Result<store::NewEvent> EventPublishing::prepare(const PublishRequest& request, Generation generation) {
  if (request.not_before && request.delay) {
    return invalid("delay", "a delay and a point in time exclude each other; give one of them");
  }
  if (request.ordering_key && request.ordering_key->empty()) {
    return invalid("ordering_key", "ordering_key must not be empty; leave it out for no order");
  }
  if (request.content_class.empty()) return invalid("content_class", "content_class must not be empty");
  auto channel = compose_channel(generation, request.processing_class);
  if (!channel) return std::move(channel).error();

  const Timestamp now = entropy_.clock();
  EnvelopeDraft draft;
  draft.event_id = request.id ? *request.id : ids_.next(now, entropy_.random());
  draft.event_type = request.event_type;
  draft.event_version = request.event_version;
  draft.occurred_at = request.occurred_at.value_or(now);
  draft.source = request.source;
  draft.target = request.target;
  draft.workspace_id = request.workspace_id;
  draft.payload = request.payload;
  draft.idempotency_key = request.idempotency_key;
  draft.trace_context = request.trace_context;
  auto envelope = EventEnvelope::make(std::move(draft), limits_);
  if (!envelope) return std::move(envelope).error();

  return store::NewEvent{*std::move(envelope), generation,         *std::move(channel), request.content_class,
                         request.ordering_key, request.not_before, request.delay};
}

Result<Published> publish_event(store::Publishing& store, const store::NewEvent& event) {
  auto outcomes = store.publish(std::span{&event, 1});
  if (outcomes) return Published{event, outcomes->front()};
  Error error = std::move(outcomes).error();
  if (error.retry == Retry::in_doubt) {
    error.message = "unknown: the answer to COMMIT was lost; publishing the same id again is safe";
    error.hint = "publish again with --id " + event.envelope.event_id().to_string();
  }
  return error;
}

}  // namespace sluice::ops
