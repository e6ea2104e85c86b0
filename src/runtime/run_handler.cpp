#include "runtime/run_handler.hpp"

#include <cxxabi.h>
#include <cstdlib>
#include <latch>
#include <list>
#include <memory>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

namespace sluice::runtime {

namespace {

// `billing::CardDeclined` is filed under CardDeclined: a class is one word, because last_error is split at
// its first colon.
std::string short_type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled{abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         std::free};
  if (status != 0 || !demangled) return std::string{error_class::unknown};
  std::string name = demangled.get();
  name.resize(std::min(name.size(), name.find('<')));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

bool is_connection_error(const std::error_code& code) {
  return code == std::errc::connection_refused || code == std::errc::connection_reset ||
         code == std::errc::connection_aborted || code == std::errc::not_connected || code == std::errc::broken_pipe ||
         code == std::errc::host_unreachable || code == std::errc::network_unreachable ||
         code == std::errc::network_down;
}

std::string system_error_class(const std::system_error& error) {
  if (error.code() == std::errc::timed_out) return std::string{error_class::timeout};
  if (is_connection_error(error.code())) return std::string{error_class::connection};
  return short_type_name(typeid(error));
}

}  // namespace

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const TerminalError& error) {
    return {error.error_class(), error.what(), {}, true};
  } catch (const SqlError& error) {
    return {{}, error.what(), error.sqlstate(), false};
  } catch (const HandlerError& error) {
    return {error.error_class(), error.what(), {}, false};
  } catch (const std::system_error& error) {
    return {system_error_class(error), error.what(), {}, false};
  } catch (const std::exception& error) {
    return {short_type_name(typeid(error)), error.what(), {}, false};
  } catch (...) {
    return {std::string{error_class::unknown}, "the handler threw something that is no std::exception", {}, false};
  }
}

namespace {

Outcome without_response(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::handled:
      return Outcome::handled();
    case Verdict::Kind::deferred:
      return verdict.retry_after ? Outcome::deferred_for(*verdict.retry_after) : Outcome::deferred(verdict.until);
    case Verdict::Kind::stopped:
      return Outcome::released({{}, verdict.message, {}, false});
    case Verdict::Kind::failed:
      break;
  }
  Outcome outcome = Outcome::failed({verdict.error_class, verdict.message, {}, verdict.terminal});
  outcome.retry_after = verdict.retry_after;
  return outcome;
}

}  // namespace

Outcome outcome_of(const Verdict& verdict) {
  Outcome outcome = without_response(verdict);
  outcome.response = verdict.response;
  return outcome;
}

namespace {

std::vector<Outcome> outcomes_of(const std::vector<Verdict>& verdicts, std::size_t events) {
  if (verdicts.size() != events) {
    return std::vector<Outcome>(events, Outcome::failed({{},
                                                         "the handler gave " + std::to_string(verdicts.size()) +
                                                             " verdicts for " + std::to_string(events) + " events",
                                                         {},
                                                         false}));
  }
  std::vector<Outcome> outcomes;
  outcomes.reserve(events);
  for (const Verdict& verdict : verdicts) outcomes.push_back(outcome_of(verdict));
  return outcomes;
}

// Who throws when asked to stop has not failed: what it was doing is done again elsewhere, or is a timeout (see below).
// A terminal failure stays one.
Outcome outcome_of_thrown(const std::exception_ptr& thrown, const std::stop_token& stop, const RetryPolicy& retry) {
  Failure failure = failure_of(thrown);
  const bool cut_short = stop.stop_requested() && classify(failure, retry) == Disposition::transient;
  return cut_short ? Outcome::released(std::move(failure)) : Outcome::failed(std::move(failure));
}

// All are started before the first is waited for; each ends on whatever thread it ends on.
std::vector<Outcome> run_coroutines(const EventHandler::Coroutine& coroutine, std::span<Work* const> works,
                                    const Delivery& delivery, const RetryPolicy& retry) {
  std::vector<Outcome> outcomes(works.size());
  // Each sees its own event only; a list, because they hold on to it.
  std::list<Delivery> deliveries;
  std::latch left{static_cast<std::ptrdiff_t>(works.size())};
  std::list<Task> tasks;
  for (std::size_t i = 0; i < works.size(); ++i) {
    try {
      deliveries.push_back(delivery);
      deliveries.back().attempts = {works[i]->event.attempts};
      deliveries.back().traceparents.clear();
      if (!delivery.traceparents.empty()) deliveries.back().traceparents = {delivery.traceparents[i]};
      tasks.push_back(coroutine(works[i]->event.envelope, deliveries.back()));
    } catch (...) {
      outcomes[i] = outcome_of_thrown(std::current_exception(), delivery.stop, retry);
      left.count_down();
      continue;
    }
    tasks.back().start([&, i](const std::exception_ptr& thrown) {
      if (thrown) outcomes[i] = outcome_of_thrown(thrown, delivery.stop, retry);
      left.count_down();
    });
  }
  left.wait();
  return outcomes;
}

Delivery delivery_of(const RegisteredHandler& handler, std::span<Work* const> works, const RunContext& context) {
  Delivery delivery;
  delivery.handler_name = handler.name();
  delivery.generation = context.generation;
  delivery.attempts.reserve(works.size());
  delivery.replays.reserve(works.size());
  for (const Work* work : works) {
    delivery.attempts.push_back(work->event.attempts);
    delivery.replays.push_back(work->event.replay);
  }
  return delivery;
}

void call_it_timeout(std::vector<Outcome>& outcomes, Duration timeout) {
  for (Outcome& outcome : outcomes) {
    if (outcome.kind == Outcome::Kind::released) outcome = Outcome::failed(std::move(outcome.failure));
    if (outcome.kind != Outcome::Kind::failed) continue;
    outcome.failure.message = "no end within " + to_text(timeout) + "; then: " + outcome.failure.message;
    outcome.failure.error_class = error_class::timeout;
    outcome.failure.sqlstate.clear();
    outcome.failure.terminal = false;
  }
}

}  // namespace

std::vector<EventEnvelope> envelopes(std::span<Work* const> works) {
  std::vector<EventEnvelope> all;
  all.reserve(works.size());
  for (const Work* work : works) all.push_back(work->event.envelope);
  return all;
}

RunResult guarded_run(const RegisteredHandler& handler, std::span<Work* const> works, const RunContext& context,
                      const std::function<std::vector<Outcome>(const Delivery&)>& run) {
  Delivery delivery = delivery_of(handler, works, context);
  std::vector<Uuid> ids;
  ids.reserve(works.size());
  for (const Work* work : works) ids.push_back(work->event.claim.event_id);
  const auto asked = std::chrono::steady_clock::now();
  const HandlerSet::Slot slot = context.handlers.slot(handler);
  delivery.stop = context.hold.begin(std::move(ids), handler.timeout);
  ProcessSpans spans{context.trace, handler, works};
  delivery.traceparents = spans.traceparents();
  RunResult result;
  result.time.began = std::chrono::steady_clock::now();
  try {
    const auto current = spans.make_current();
    result.outcomes = run(delivery);
  } catch (...) {
    result.outcomes.assign(works.size(), outcome_of_thrown(std::current_exception(), delivery.stop, handler.retry));
  }
  const auto ended = std::chrono::steady_clock::now();
  result.time.took = std::chrono::duration_cast<Duration>(ended - result.time.began);
  context.in_handlers += std::chrono::duration_cast<Duration>(ended - asked);
  if (context.hold.end()) call_it_timeout(result.outcomes, handler.timeout);
  spans.end(result.outcomes);
  result.traceparents = std::move(delivery.traceparents);
  return result;
}

Work::Ran RunResult::take(std::size_t event) {
  Work::Ran ran{std::move(outcomes[event]), time, {}};
  if (!traceparents.empty()) ran.traceparent = traceparents[event < traceparents.size() ? event : 0];
  return ran;
}

RunResult run_handler(const RegisteredHandler& handler, std::span<Work* const> works, const RunContext& context) {
  const EventHandler::Shape& shape = handler.handler.shape();
  return guarded_run(handler, works, context, [&](const Delivery& delivery) -> std::vector<Outcome> {
    if (const auto* each = std::get_if<EventHandler::Each>(&shape)) {
      std::vector<Outcome> outcome;
      outcome.push_back(outcome_of((*each)(works.front()->event.envelope, delivery)));
      return outcome;
    }
    if (const auto* coroutine = std::get_if<EventHandler::Coroutine>(&shape)) {
      return run_coroutines(*coroutine, works, delivery, handler.retry);
    }
    return outcomes_of(std::get<EventHandler::Batch>(shape)(envelopes(works), delivery), works.size());
  });
}

}  // namespace sluice::runtime
