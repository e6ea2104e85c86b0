#include "sink/switched_sink.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/utf8.hpp"
#include "core/words.hpp"

namespace sluice::sink {
namespace {

// The nearest rank: a value that was really measured.
double percentile_ms(const std::vector<Duration>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return std::chrono::duration<double, std::milli>{sorted[std::max<std::size_t>(rank, 1) - 1]}.count();
}

}  // namespace

DeliveryTally::UnderWay::UnderWay(DeliveryTally& tally, std::size_t events)
    : tally_(tally), events_(static_cast<std::int64_t>(events)) {
  const std::lock_guard lock{tally_.mutex_};
  tally_.in_flight_ += events_;
}

DeliveryTally::UnderWay::~UnderWay() {
  const std::lock_guard lock{tally_.mutex_};
  tally_.in_flight_ -= events_;
}

void DeliveryTally::record(std::span<const Verdict> verdicts, Timestamp now) {
  const std::lock_guard lock{mutex_};
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind == Verdict::Kind::handled) ++delivered_;
    if (verdict.kind != Verdict::Kind::failed) continue;
    ++failed_;
    last_error_ = verdict.error_class + ": " + verdict.message;
    last_failed_at_ = now;
  }
}

void DeliveryTally::record_latency(Duration took) {
  const std::lock_guard lock{mutex_};
  latencies_[recorded_++ % kRemembered] = took;
}

void DeliveryTally::describe(SinkStatus& status) const {
  const std::lock_guard lock{mutex_};
  status.in_flight = in_flight_;
  status.delivered = delivered_;
  status.failed = failed_;
  status.last_error = last_error_;
  status.last_failed_at = last_failed_at_;
  if (recorded_ == 0) return;
  const auto end = latencies_.begin() + static_cast<std::ptrdiff_t>(std::min(recorded_, kRemembered));
  std::vector<Duration> sorted{latencies_.begin(), end};
  std::sort(sorted.begin(), sorted.end());
  status.p50_ms = percentile_ms(sorted, 50);
  status.p95_ms = percentile_ms(sorted, 95);
}

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

std::string excerpt(std::string_view said) {
  constexpr std::size_t kMostShown = 512;
  std::string line = printable(utf8::prefix(said, kMostShown));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace sluice::sink
