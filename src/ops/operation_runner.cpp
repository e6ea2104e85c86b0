#include "ops/operation_runner.hpp"

#include <algorithm>

#include "core/try.hpp"
#include "ops/publish_trace.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::ops {
namespace {

constexpr Duration kLookAtOthers = std::chrono::milliseconds{500};

// The operator paused or cancelled it, or somebody else took over, between two calls: no error, look again.
bool moved(const Error& error) { return error.code == ErrorCode::conflict; }

}  // namespace

Result<OperationRunner::Stepped> OperationRunner::step(const Uuid& id) {
  auto held = store_.hold_operation(id, executor_, lease_);
  if (held) return act(*held);
  if (!moved(held.error())) return std::move(held).error();
  SLUICE_TRY(auto seen, store_.operation(id));
  return Stepped{std::move(seen), kLookAtOthers, false};
}

Result<OperationRunner::Stepped> OperationRunner::act(const store::OperationRecord& held) {
  SLUICE_TRY(const auto now, store_.now());
  const OperationStep next = next_step(held.progress, now);
  Result<store::OperationRecord> done = held;
  switch (next.what) {
    case OperationStep::What::act: {
      const auto span = begin_step(tracer_, held, next.limit);
      done = store_.advance_operation(held.id, executor_, next.limit, next.paced_at);
      if (!done) telemetry::note_error(span.get(), done.error());
      break;
    }
    case OperationStep::What::stop:
      done = store_.end_operation(held.id, executor_, OperationState::stopped, next.why);
      break;
    case OperationStep::What::finish:
      done = store_.end_operation(held.id, executor_, OperationState::finished, "");
      break;
    case OperationStep::What::wait:
      break;
  }
  if (!done && !moved(done.error())) return std::move(done).error();
  if (!done) return Stepped{held, kLookAtOthers, true};
  return Stepped{*std::move(done), next.wait_for, true};
}

Result<void> OperationRunner::release_all() {
  SLUICE_TRY(const auto held, store_.runnable_operations(executor_));
  for (const Uuid& id : held) {
    SLUICE_CHECK(release(id));
  }
  return {};
}

Result<Duration> OperationRunner::round() {
  SLUICE_TRY(const auto runnable, store_.runnable_operations(executor_));
  Duration rest = kNothingToDo;
  for (const Uuid& id : runnable) {
    SLUICE_TRY(const auto stepped, step(id));
    rest = std::min(rest, stepped.rest);
  }
  return rest;
}

}  // namespace sluice::ops
