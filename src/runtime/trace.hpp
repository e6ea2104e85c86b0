// The spans of delivering: claim, relay, process, settle. Without a tracer each of these is a comparison with null.
//
// An event is part of the trace that its envelope names. A claim and a settle are about many events: they are linked to
// them, and where there is only one they are part of its trace.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/tracer.hpp>
#include "core/settle.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/work.hpp"

namespace sluice::runtime {

/// A claim that began then and is over; the traceparent of its span. Empty: none was recorded.
std::string trace_claim(Tracer* tracer, std::span<const store::ClaimedEvent> events, Timestamp began);

/// The settle that begins now.
std::unique_ptr<Span> trace_settle(Tracer* tracer, std::span<const Work> works);

/// The relay's publish that begins now; `broker` is nats or redis. The message carries the event's own trace context,
/// so that a run behind the broker continues the event's trace as one in front of it does.
std::unique_ptr<Span> trace_relay(Tracer* tracer, std::string_view broker, std::span<const EventEnvelope> events);

/// What a run of a handler belongs to.
struct ProcessTrace {
  Tracer* tracer = nullptr;       ///< none: nothing is traced
  std::string_view claim_span{};  ///< linked to; empty: none
};

/// One run of a handler: a span per event, or one for a batch.
class ProcessSpans {
 public:
  ProcessSpans(const ProcessTrace& trace, const RegisteredHandler& handler, std::span<Work* const> works);

  /// As Delivery::traceparents has them; empty without a tracer.
  [[nodiscard]] const std::vector<std::string>& traceparents() const { return traceparents_; }
  /// Held while the handler runs on this thread.
  [[nodiscard]] std::shared_ptr<void> make_current() const;
  /// One outcome per event.
  void end(std::span<const Outcome> outcomes);

 private:
  void start_each(const ProcessTrace& trace, const RegisteredHandler& handler, std::span<Work* const> works);
  void start_batch(const ProcessTrace& trace, const RegisteredHandler& handler, std::span<Work* const> works);

  std::vector<std::unique_ptr<Span>> spans_;  // one per event, or one for all; none where it is not sampled
  std::vector<std::string> traceparents_;     // as many
};

}  // namespace sluice::runtime
