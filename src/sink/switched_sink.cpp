#include "sink/switched_sink.hpp"

#include <chrono>
#include <utility>

namespace sluice::sink {
namespace {

SinkState state_of(SinkSwitch state) {
  switch (state) {
    case SinkSwitch::active:
      return SinkState::active;
    case SinkSwitch::paused:
      return SinkState::paused;
    case SinkSwitch::disabled:
      break;
  }
  return SinkState::disabled;
}

}  // namespace

SwitchedSink::SwitchedSink(SinkIdentity identity, std::function<Timestamp()> clock)
    : identity_(std::move(identity)), clock_(std::move(clock)), pace_(identity_.rate) {}

std::vector<Verdict> SwitchedSink::deliver(std::span<const EventEnvelope> events, const Delivery& delivery) {
  if (switch_state() != SinkSwitch::active) {
    return std::vector<Verdict>(events.size(), Verdict::defer_for(kStoppedSinkWait));
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
  if (const SinkSwitch state = switch_state(); state != SinkSwitch::active) {
    status.state = state_of(state);
    status.resumes_at.reset();
  }
  return status;
}

void SwitchedSink::follow(const SharedState& shared) {
  {
    const std::lock_guard lock{mutex_};
    if (!news_.empty()) return;
    switch_ = shared.state;
  }
  follow_circuit(shared.open_until);
}

bool SwitchedSink::has_news() const {
  const std::lock_guard lock{mutex_};
  return !news_.empty();
}

std::vector<SinkNews> SwitchedSink::take_news() {
  const std::lock_guard lock{mutex_};
  return std::exchange(news_, {});
}

void SwitchedSink::disable(std::string reason) {
  const std::lock_guard lock{mutex_};
  if (std::exchange(switch_, SinkSwitch::disabled) == SinkSwitch::disabled) return;
  news_.push_back({SinkNews::What::gone, {}, std::move(reason)});
}

void SwitchedSink::tell(SinkNews news) {
  const std::lock_guard lock{mutex_};
  news_.push_back(std::move(news));
}

SinkSwitch SwitchedSink::switch_state() const {
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
