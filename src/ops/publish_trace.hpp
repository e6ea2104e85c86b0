// The spans of what changes events: publishing them, and replaying them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sluice/tracer.hpp>
#include "ops/publish_event.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// The span of a publish, which is over when the events are stored. Requests without a trace context get that of the
/// span, or that of `surrounding` where nothing is traced: the traceparent of who asks, as an instrumented client sends
/// it. One that is malformed is nobody's. None: not sampled, or no tracer.
std::unique_ptr<Span> begin_publish(Tracer* tracer, std::span<PublishRequest> requests,
                                    std::optional<std::string_view> surrounding);
/// What is known once the requests are events.
void describe(Span* span, std::span<const store::NewEvent> events);

/// Has one event run again, within a span of the event's own trace. `operation` is a literal: replay or resend.
Result<store::ReplayReport> traced(Tracer* tracer, store::Administering& store, const Uuid& id,
                                   std::string_view operation,
                                   const std::function<Result<store::ReplayReport>()>& run_again);
/// The span of one step of a bulk operation, in a trace of its own. Which events a step takes is decided where they are
/// taken, in the database, so it is linked to none: the operation's id leads to them.
std::unique_ptr<Span> begin_step(Tracer* tracer, const store::OperationRecord& operation, std::int64_t events);

}  // namespace sluice::ops
