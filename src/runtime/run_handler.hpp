// Runs one handler on events that are claimed: whatever it does, each event has an outcome afterwards.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include <sluice/handler.hpp>
#include "core/settle.hpp"
#include "runtime/claim_keeper.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/trace.hpp"
#include "runtime/work.hpp"

namespace sluice::runtime {

/// What an exception of a handler says about the failure.
/// TerminalError and PayloadError are terminal, SqlError brings its SQLSTATE, std::system_error its
/// connection errors and timeouts; any other exception is filed under the last part of its type's name.
Failure failure_of(const std::exception_ptr& thrown);

Outcome outcome_of(const Verdict& verdict);

/// What a run needs besides the handler.
struct RunContext {
  const HandlerSet& handlers;
  ClaimKeeper::Hold& hold;
  std::int64_t generation = 0;
  ProcessTrace trace{};
  Duration& in_handlers;  ///< grows by what the handlers take, and by what they have to wait for a slot
};

struct RunResult {
  std::vector<Outcome> outcomes;  ///< one per event
  RunTime time;
  std::vector<std::string> traceparents{};  ///< as Delivery has them

  /// What is to be noted of one event; its outcome is moved out.
  [[nodiscard]] Work::Ran take(std::size_t event);
};

/// The handler's shape is Each, Coroutine (all at once) or Batch.
RunResult run_handler(const RegisteredHandler& handler, std::span<Work* const> works, const RunContext& context);

/// Calls `run` with the delivery of these works, its claims watched and its slot taken. An exception, or
/// returning too late after one, becomes the outcome of every event.
RunResult guarded_run(const RegisteredHandler& handler, std::span<Work* const> works, const RunContext& context,
                      const std::function<std::vector<Outcome>(const Delivery&)>& run);

std::vector<EventEnvelope> envelopes(std::span<Work* const> works);

}  // namespace sluice::runtime
