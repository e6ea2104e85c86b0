#include "runtime/trace.hpp"

#include <algorithm>
#include <utility>

#include "core/failure.hpp"
#include "core/generation.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::runtime {
namespace {

using telemetry::MessagingStart;
using Links = std::vector<std::string_view>;

std::string_view context_of(const EventEnvelope& envelope) {
  const auto& context = envelope.trace_context();
  return context ? std::string_view{*context} : std::string_view{};
}

// A claim or a settle: in the trace of the only event, or linked to all.
std::unique_ptr<Span> start_shared(Tracer& tracer, MessagingStart start, const Links& links) {
  if (start.events == 1 && links.size() == 1) {
    start.parent = links.front();
  } else {
    start.links = links;
  }
  return telemetry::start_messaging(tracer, start);
}

std::string channel_of(Generation generation) { return "outbox_gen_" + std::to_string(generation); }

// One span for all of them?
bool is_batch(const RegisteredHandler& handler, std::size_t events) {
  const EventHandler::Shape& shape = handler.handler.shape();
  const bool together =
      std::holds_alternative<EventHandler::Batch>(shape) || std::holds_alternative<EventHandler::BatchOnce>(shape);
  return together && events > 1 && !handler.delivers_each;
}

std::string_view outcome_name(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::handled:
      return "handled";
    case Outcome::Kind::failed:
      return "failed";
    case Outcome::Kind::released:
      return "released";
    default:
      return "deferred";
  }
}

void end_one(Span& span, const Outcome& outcome) {
  if (!span.recording()) return;
  span.set("sluice.outcome", outcome_name(outcome));
  if (outcome.kind == Outcome::Kind::failed) {
    span.fail(effective_class(outcome.failure), outcome.failure.message);
  }
}

void end_batch(Span& span, std::span<const Outcome> outcomes) {
  if (!span.recording()) return;
  const auto is_failed = [](const Outcome& outcome) { return outcome.kind == Outcome::Kind::failed; };
  const auto failed = std::count_if(outcomes.begin(), outcomes.end(), is_failed);
  if (failed == 0) return;
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), is_failed);
  span.set("sluice.failed_events", failed);
  span.fail(effective_class(first->failure), first->failure.message);
}

}  // namespace

std::string trace_claim(Tracer* tracer, std::span<const store::ClaimedEvent> events, Timestamp began) {
  if (tracer == nullptr) return {};
  Links links;
  for (const store::ClaimedEvent& event : events) {
    if (const auto context = context_of(event.envelope); !context.empty()) links.push_back(context);
  }
  const std::string channel = channel_of(events.front().generation);
  MessagingStart start{SpanKind::client, "claim", "receive", channel};
  start.started_at = began;
  start.events = events.size();
  const auto span = start_shared(*tracer, start, links);
  return span && span->recording() ? std::string{span->traceparent()} : std::string{};
}

std::unique_ptr<Span> trace_settle(Tracer* tracer, std::span<const Work> works) {
  if (tracer == nullptr) return nullptr;
  Links links;
  for (const Work& work : works) {
    const std::size_t before = links.size();
    for (const HandlerNote& note : work.notes) {
      if (!note.traceparent.empty()) links.emplace_back(note.traceparent);
    }
    const auto context = context_of(work.event.envelope);
    if (links.size() == before && !context.empty()) links.push_back(context);
  }
  const std::string channel = channel_of(works.front().event.generation);
  MessagingStart start{SpanKind::client, "settle", "settle", channel};
  start.events = works.size();
  return start_shared(*tracer, start, links);
}

std::unique_ptr<Span> trace_relay(Tracer* tracer, std::string_view broker, std::span<const EventEnvelope> events) {
  if (tracer == nullptr || events.empty()) return nullptr;
  Links links;
  for (const EventEnvelope& event : events) {
    if (const auto context = context_of(event); !context.empty()) links.push_back(context);
  }
  MessagingStart start{SpanKind::producer, "relay", "send", broker};
  start.system = broker;
  start.events = events.size();
  return start_shared(*tracer, start, links);
}

ProcessSpans::ProcessSpans(const ProcessTrace& trace, const RegisteredHandler& handler, std::span<Work* const> works) {
  if (trace.tracer == nullptr) return;
  is_batch(handler, works.size()) ? start_batch(trace, handler, works) : start_each(trace, handler, works);
}

void ProcessSpans::start_each(const ProcessTrace& trace, const RegisteredHandler& handler,
                              std::span<Work* const> works) {
  const std::span<const std::string_view> claim{&trace.claim_span, trace.claim_span.empty() ? 0U : 1U};
  for (const Work* work : works) {
    const EventEnvelope& envelope = work->event.envelope;
    MessagingStart start{SpanKind::consumer, "process", "process", envelope.event_type()};
    start.parent = context_of(envelope);
    start.links = claim;
    auto span = telemetry::start_messaging(*trace.tracer, start);
    if (span && span->recording()) {
      span->set("messaging.message.id", envelope.event_id().to_string());
      span->set("messaging.consumer.group.name", handler.name());
      span->set("sluice.attempt", work->event.attempts + 1);
      span->set("sluice.generation", work->event.generation);
    }
    traceparents_.emplace_back(span ? span->traceparent() : context_of(envelope));
    spans_.push_back(std::move(span));
  }
}

void ProcessSpans::start_batch(const ProcessTrace& trace, const RegisteredHandler& handler,
                               std::span<Work* const> works) {
  Links links;
  const std::string_view type = works.front()->event.envelope.event_type();
  bool same = true;
  for (const Work* work : works) {
    if (const auto context = context_of(work->event.envelope); !context.empty()) links.push_back(context);
    same = same && work->event.envelope.event_type() == type;
  }
  if (!trace.claim_span.empty()) links.push_back(trace.claim_span);
  MessagingStart start{SpanKind::consumer, "process", "process", same ? type : std::string_view{handler.name()}};
  start.links = links;
  start.events = works.size();
  auto span = telemetry::start_messaging(*trace.tracer, start);
  if (span && span->recording()) {
    span->set("messaging.consumer.group.name", handler.name());
    span->set("sluice.generation", works.front()->event.generation);
  }
  if (span) traceparents_.emplace_back(span->traceparent());
  spans_.push_back(std::move(span));
}

std::shared_ptr<void> ProcessSpans::make_current() const {
  return spans_.size() == 1 && spans_.front() ? spans_.front()->make_current() : nullptr;
}

void ProcessSpans::end(std::span<const Outcome> outcomes) {
  if (spans_.size() == 1 && outcomes.size() > 1) {
    if (spans_.front()) end_batch(*spans_.front(), outcomes);
  } else {
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      if (spans_[i]) end_one(*spans_[i], outcomes[i]);
    }
  }
  spans_.clear();
}

}  // namespace sluice::runtime
