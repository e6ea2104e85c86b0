#include "runtime/worker.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <utility>

namespace sluice::runtime {

namespace {

std::vector<Outcome> all_failed(std::size_t count, std::string message) {
  return std::vector<Outcome>(count, Outcome::failed(Failure{{}, std::move(message), {}, false}));
}

// The seam says that sinks never throw; an event must not be lost to one that does.
std::vector<Outcome> deliver_guarded(sink::Sink& sink, std::span<const store::ClaimedEvent> events) {
  try {
    std::vector<Outcome> outcomes = sink.deliver(events);
    if (outcomes.size() == events.size()) return outcomes;
    return all_failed(events.size(), "the sink gave " + std::to_string(outcomes.size()) + " outcomes for " +
                                         std::to_string(events.size()) + " events");
  } catch (const std::exception& thrown) {
    return all_failed(events.size(), thrown.what());
  } catch (...) {
    return all_failed(events.size(), "the sink threw something that is no std::exception");
  }
}

}  // namespace

Result<void> WorkerOptions::validate() const {
  if (generation < kFirstGeneration) return invalid("generation", "generation must be at least 1");
  if (identity.empty()) return invalid("identity", "identity must not be empty");
  if (auto checked = check_handler_name(handler_name); !checked) return checked;
  if (batch_min < 1) return invalid("batch_min", "batch_min must be at least 1");
  if (batch_max < batch_min) return invalid("batch_max", "batch_max must be at least batch_min");
  if (ttl <= Duration::zero()) return invalid("ttl", "ttl must be longer than zero");
  if (!uniform01) return invalid("uniform01", "uniform01 must be set");
  if (settle_attempts < 1) return invalid("settle_attempts", "settle_attempts must be at least 1");
  return retry.validate();
}

Worker::Worker(store::Claiming& store, sink::Sink& sink, const telemetry::Logger& logger, WorkerOptions options)
    : store_(store),
      sink_(sink),
      options_(std::move(options)),
      settler_(store, logger.with_generation(options_.generation), {options_.handler_name, options_.settle_attempts}),
      batch_size_(options_.batch_min) {}

Result<StepReport> Worker::step() {
  auto earlier = settler_.settle();
  if (!earlier) return earlier;
  auto events = claim();
  if (!events) return std::move(events).error();
  if (events->empty()) return earlier;

  const auto handled = find_handled(*events);
  if (!handled) return give_back(std::move(events).value(), handled.error());
  const Delivery delivery = deliver(*events, *handled);
  for (std::size_t i = 0; i < events->size(); ++i) {
    Attempt attempt = decide(std::move((*events)[i]), delivery.outcomes[i], (*handled)[i]);
    attempt.took = delivery.took;
    settler_.add(std::move(attempt));
  }
  auto report = settler_.settle();
  if (report) *report += *earlier;
  return report;
}

Result<std::vector<store::ClaimedEvent>> Worker::claim() {
  store::ClaimRequest request;
  request.generation = options_.generation;
  request.worker = options_.identity;
  request.limit = batch_size_;
  request.ttl = options_.ttl;
  auto events = store_.claim(request);
  if (!events) return events;
  const bool full = events->size() >= static_cast<std::size_t>(batch_size_);
  batch_size_ = !full                                  ? options_.batch_min
                : batch_size_ > options_.batch_max / 2 ? options_.batch_max
                                                       : batch_size_ * 2;
  return events;
}

Result<std::vector<bool>> Worker::find_handled(std::span<const store::ClaimedEvent> events) {
  std::vector<store::HandledKey> keys;
  keys.reserve(events.size());
  for (const auto& event : events) keys.push_back({options_.handler_name, event.envelope.idempotency_key()});
  const auto found = store_.already_handled(keys);
  if (!found) return found.error();
  const std::set<store::HandledKey> known(found->begin(), found->end());
  std::vector<bool> handled;
  handled.reserve(keys.size());
  for (const auto& key : keys) handled.push_back(known.contains(key));
  return handled;
}

Worker::Delivery Worker::deliver(std::span<const store::ClaimedEvent> events, const std::vector<bool>& handled) {
  std::vector<store::ClaimedEvent> fresh;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!handled[i]) fresh.push_back(events[i]);
  }
  Delivery delivery{std::vector<Outcome>(events.size(), Outcome::handled()), {}};
  if (fresh.empty()) return delivery;

  const auto begin = std::chrono::steady_clock::now();
  std::vector<Outcome> outcomes = deliver_guarded(sink_, fresh);
  delivery.took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begin);
  auto next = outcomes.begin();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!handled[i]) delivery.outcomes[i] = std::move(*next++);
  }
  return delivery;
}

Attempt Worker::decide(store::ClaimedEvent event, const Outcome& outcome, bool was_handled) const {
  store::SettleItem decision;
  decision.claim = event.claim;
  decision.settlement = sluice::settle(event.attempts, outcome, options_.retry, options_.uniform01());
  if (outcome.kind == Outcome::Kind::handled && !was_handled) {
    decision.handled_by = {options_.handler_name};
    decision.idempotency_key = event.envelope.idempotency_key();
  }
  return {std::move(event), std::move(decision), was_handled, {}};
}

// Without knowing what was handled already nothing may run: the events go back uncounted.
Result<StepReport> Worker::give_back(std::vector<store::ClaimedEvent> events, Error reason) {
  for (auto& event : events) settler_.add(decide(std::move(event), Outcome::released(), false));
  if (auto released = settler_.settle(); !released) return released;
  return reason;
}

}  // namespace sluice::runtime
