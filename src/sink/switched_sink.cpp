#include "sink/switched_sink.hpp"

#include <chrono>
#include <utility>

namespace sluice::sink {

SwitchedSink::SwitchedSink(SinkIdentity identity, std::function<Timestamp()> clock)
    : identity_(std::move(identity)), clock_(std::move(clock)), pace_(identity_.rate, clock_) {}

std::vector<Verdict> SwitchedSink::deliver(std::span<const EventEnvelope> events, const Delivery& delivery) {
  if (switch_state() != SinkState::active) {
    return std::vector<Verdict>(events.size(), Verdict::defer_until(now() + kPausedWait));
  }
  const DeliveryTally::UnderWay under_way{tally_, events.size()};
  std::vector<Verdict> verdicts = pace_.deliver(events, [&](Pace::Events some) { return carry(some, delivery); });
  tally_.record(verdicts, now());
  return verdicts;
}

SinkStatus SwitchedSink::status() const {
  SinkStatus status;
  status.name = identity_.name;
  status.kind = identity_.kind;
  status.target = identity_.target;
  tally_.describe(status);
  describe(status);
  // An operator's word, and the receiver's, weigh more than a circuit.
  if (const SinkState state = switch_state(); state != SinkState::active) {
    status.state = state;
    status.resumes_at.reset();
  }
  return status;
}

void SwitchedSink::pause() {
  const std::lock_guard lock{mutex_};
  if (switch_ == SinkState::active) switch_ = SinkState::paused;
}

void SwitchedSink::resume() {
  {
    const std::lock_guard lock{mutex_};
    switch_ = SinkState::active;
  }
  resumed();
}

void SwitchedSink::disable() {
  const std::lock_guard lock{mutex_};
  switch_ = SinkState::disabled;
}

SinkState SwitchedSink::switch_state() const {
  const std::lock_guard lock{mutex_};
  return switch_;
}

ProbeReport SwitchedSink::probe(const EventEnvelope& event) {
  const auto began = std::chrono::steady_clock::now();
  const std::vector<Verdict> verdicts = carry({&event, 1}, {.handler_name = "sluice.test", .attempts = {0}});
  ProbeReport report;
  report.took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
  const Verdict& verdict = verdicts.front();
  report.ok = verdict.kind == Verdict::Kind::handled;
  report.status = verdict.kind == Verdict::Kind::failed ? verdict.error_class : report.ok ? "handled" : "deferred";
  report.detail = verdict.message;
  return report;
}

}  // namespace sluice::sink
