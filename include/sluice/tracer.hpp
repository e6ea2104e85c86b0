// Tracer: how an application's own tracing joins in. Implement it over your SDK and give it to the publisher and the
// listener; `examples/09_tracer.cpp` does. Without one nothing is traced, and that costs a comparison with null.
//
//   publish    PRODUCER  the events that carry no trace context are stamped with this span's
//   claim      CLIENT    one per claim that found events; linked to them
//   process    CONSUMER  one per handler and attempt, continues the event's trace context. A batch handler has one span
//                        for its batch, linked to the events
//   settle     CLIENT    one per batch that is settled; linked to what was processed
//   relay      PRODUCER  one per batch that goes to the broker which carries the deliveries; linked to the events
//
// Names and attributes are those of OpenTelemetry's conventions for messaging.
//
// Trace contexts are W3C traceparents, `00-<32 hex>-<16 hex>-<2 hex>`: no type of any SDK passes here.
//
// Thread-safety: a tracer is called from any number of threads at once; a span from one at a time, and it may end on
// another thread than it began on. Neither may throw, and neither may wait: events are delivered on these threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice {

/// The numbers are those of OTLP.
enum class SpanKind { internal = 1, server = 2, client = 3, producer = 4, consumer = 5 };

struct SpanStart {
  SpanKind kind = SpanKind::internal;
  std::string_view operation;      ///< `publish`; the name of the span is `{operation} {destination}`
  std::string_view destination{};  ///< `platform.scan.completed`; empty: the operation alone is the name
  /// Empty: what is current in your SDK on this thread, else a new trace.
  std::string_view parent{};
  std::span<const std::string_view> links{};
  std::optional<Timestamp> started_at{};  ///< of work that is over when it is told; default: now
};

/// Ends when it is destroyed.
class Span {
 public:
  Span() = default;
  virtual ~Span() = default;
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// What is caused by this span continues it, whether it is recorded or not.
  [[nodiscard]] virtual std::string_view traceparent() const = 0;
  /// False: attributes are not worth being computed.
  [[nodiscard]] virtual bool recording() const { return true; }
  /// The key is a literal.
  virtual void set(std::string_view key, std::string_view value) = 0;
  virtual void set(std::string_view key, std::int64_t value) = 0;
  /// What it was for has failed; the type is an error class, in few values.
  virtual void fail(std::string_view error_type, std::string_view message) = 0;
  /// Makes it the current span of your SDK on this thread, until what is returned goes. Asked for around a handler that
  /// is a plain function; a coroutine finds its span in Delivery::traceparent.
  virtual std::shared_ptr<void> make_current() { return nullptr; }
};

class Tracer {
 public:
  Tracer() = default;
  virtual ~Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// None: not sampled, and what it causes continues the parent.
  virtual std::unique_ptr<Span> start(const SpanStart& wanted) = 0;
};

}  // namespace sluice
