// Spans by OpenTelemetry's conventions for messaging: what the ways of publishing, and those of delivering, share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/tracer.hpp>

namespace sluice::telemetry {

/// `operation` is the verb in Sluice's words, `type` the one of the conventions: send, receive, process, settle. Both
/// are literals.
struct MessagingStart {
  SpanKind kind = SpanKind::internal;
  std::string_view operation;
  std::string_view type;
  std::string_view destination;
  std::string_view parent{};
  std::span<const std::string_view> links{};
  std::optional<Timestamp> started_at{};
  std::size_t events = 1;
  std::string_view system = "sluice";  ///< who carries the message: sluice, nats, redis
};
/// None: not sampled. The attributes are set that every such span has.
std::unique_ptr<Span> start_messaging(Tracer& tracer, const MessagingStart& wanted);

/// The span of a publish. Where it has no surrounding one, a single event's own trace context is continued; those of
/// many are linked.
struct PublishStart {
  std::string_view event_type;              ///< empty: they are of several types
  std::string_view surrounding{};           ///< the traceparent of who asks
  std::span<const std::string_view> own{};  ///< the trace contexts that the events bring along
  std::size_t events = 1;
};
std::unique_ptr<Span> start_publish(Tracer& tracer, const PublishStart& wanted);

/// What became of it, for `span` or none.
void note_error(Span* span, const Error& error);

}  // namespace sluice::telemetry
