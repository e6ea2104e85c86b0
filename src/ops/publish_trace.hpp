// The spans of what changes events: publishing them, and replaying them.
#pragma once

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

/// The span of one event's replay, in the event's own trace.
std::unique_ptr<Span> begin_replay(Tracer* tracer, store::Administering& store, const Uuid& id);
/// The span of one step of a bulk operation, in a trace of its own.
std::unique_ptr<Span> begin_step(Tracer* tracer, const store::OperationRecord& operation, std::int64_t events);

}  // namespace sluice::ops
