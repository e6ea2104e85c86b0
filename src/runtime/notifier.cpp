#include "runtime/notifier.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

// How long after a commit its notification is still taken for an echo. Where publishers notify only while every worker
// is idle, most have none. Nothing but a publish names its event, so a replay of it is never mistaken for one.
constexpr std::chrono::seconds kEchoWithin{1};

Route route_of(const store::NewEvent& event) {
  const auto& target = event.envelope.target();
  return {event.envelope.event_type(), target ? std::optional<std::string_view>{*target} : std::nullopt, event.channel};
}

}  // namespace

Notifier::Notifier(Generation generation, std::function<Clock::time_point()> clock)
    : generation_(generation), clock_(std::move(clock)) {
  if (!clock_) clock_ = [] { return Clock::now(); };
}

Notifier::Registration& Notifier::Registration::operator=(Registration&& other) noexcept {
  if (this == &other) return *this;
  reset();
  notifier_ = std::exchange(other.notifier_, nullptr);
  at_ = other.at_;
  return *this;
}

void Notifier::Registration::reset() {
  Notifier* const notifier = std::exchange(notifier_, nullptr);
  if (notifier == nullptr) return;
  const std::lock_guard lock{notifier->mutex_};
  notifier->targets_.erase(at_);
}

Notifier::Registration Notifier::add(WakeTarget target) {
  const std::lock_guard lock{mutex_};
  return {*this, targets_.insert(targets_.end(), std::move(target))};
}

void Notifier::wake(WakeTarget& target) {
  ++wakes_;
  target.wake();
}

void Notifier::announce() {
  const std::lock_guard lock{mutex_};
  for (WakeTarget& target : targets_) wake(target);
}

void Notifier::storing(std::span<const store::NewEvent> events) {
  const std::lock_guard lock{mutex_};
  for (const store::NewEvent& event : events) own_[event.envelope.event_id()] = {};
}

void Notifier::stored(std::span<const store::NewEvent> events) {
  const std::lock_guard lock{mutex_};
  const auto now = clock_();
  forget_old(now);
  for (const store::NewEvent& event : events) {
    const auto own = own_.find(event.envelope.event_id());
    if (own == own_.end()) continue;  // its echo has come already
    own->second.until = now + kEchoWithin;
    stored_.emplace_back(own->second.until, own->first);
  }
  for (WakeTarget& target : targets_) {
    const bool wanted = std::any_of(events.begin(), events.end(), [&](const store::NewEvent& event) {
      return event.generation == generation_ && target.wants(route_of(event));
    });
    if (wanted) wake(target);
  }
}

void Notifier::not_stored(std::span<const store::NewEvent> events) {
  const std::lock_guard lock{mutex_};
  for (const store::NewEvent& event : events) own_.erase(event.envelope.event_id());
}

void Notifier::heard(std::span<const Uuid> events) {
  {
    const std::lock_guard lock{mutex_};
    const auto now = clock_();
    // Each is asked: its echo comes once.
    bool all_own = !events.empty();
    for (const Uuid& event : events) all_own = is_own(event, now) && all_own;
    if (all_own) return;
  }
  announce();
}

bool Notifier::is_own(const Uuid& event, Clock::time_point now) {
  const auto known = own_.find(event);
  if (known == own_.end()) return false;
  const bool expected = known->second.until >= now;
  own_.erase(known);
  return expected;
}

void Notifier::forget_old(Clock::time_point now) {
  while (!stored_.empty() && stored_.front().first < now) {
    const auto& [until, event] = stored_.front();
    const auto known = own_.find(event);
    if (known != own_.end() && known->second.until == until) own_.erase(known);
    stored_.pop_front();
  }
}

std::uint64_t Notifier::wakes() const {
  const std::lock_guard lock{mutex_};
  return wakes_;
}

}  // namespace sluice::runtime
