#include "core/alert.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Not the form of a fingerprint, so it cannot be one.
constexpr const char* kShared = "shared";

}  // namespace

AlertThrottle::AlertThrottle(AlertThrottleOptions options) : options_(options) {}

std::map<std::string, AlertThrottle::Window, std::less<>>::iterator AlertThrottle::window_of(
    const std::string& fingerprint) {
  const auto own = windows_.find(fingerprint);
  if (own != windows_.end() || windows_.size() < options_.most_windows) return own;
  return windows_.find(kShared);
}

std::optional<AlertThrottle::Passed> AlertThrottle::summary(Window& window) {
  if (!window.latest) return std::nullopt;
  Passed passed{*std::move(window.latest), window.held - 1};
  window.latest.reset();
  window.held = 0;
  return passed;
}

std::optional<AlertThrottle::Passed> AlertThrottle::offer(FailureNotice failure, TimePoint now) {
  const auto found = window_of(failure.fingerprint);
  if (found == windows_.end()) {
    const bool full = windows_.size() >= options_.most_windows;
    windows_.insert_or_assign(full ? kShared : failure.fingerprint, Window{now + options_.window, {}, 0});
    return Passed{std::move(failure), 0};
  }
  Window& window = found->second;
  if (now >= window.closes) {
    const std::int64_t suppressed = std::exchange(window.held, 0);
    window.latest.reset();
    window.closes = now + options_.window;
    return Passed{std::move(failure), suppressed};
  }
  window.latest = std::move(failure);
  ++window.held;
  ++held_back_;
  return std::nullopt;
}

std::vector<AlertThrottle::Passed> AlertThrottle::close(TimePoint now) {
  std::vector<Passed> passed;
  for (auto at = windows_.begin(); at != windows_.end();) {
    Window& window = at->second;
    if (now < window.closes) {
      ++at;
      continue;
    }
    if (auto due = summary(window)) {
      passed.push_back(*std::move(due));
      window.closes = now + options_.window;
      ++at;
    } else {
      at = windows_.erase(at);
    }
  }
  return passed;
}

std::vector<AlertThrottle::Passed> AlertThrottle::close_all() {
  std::vector<Passed> passed;
  for (auto& [fingerprint, window] : windows_) {
    if (auto due = summary(window)) passed.push_back(*std::move(due));
  }
  windows_.clear();
  return passed;
}

std::optional<AlertThrottle::TimePoint> AlertThrottle::next_close() const {
  const auto next = std::min_element(windows_.begin(), windows_.end(), [](const auto& left, const auto& right) {
    return left.second.closes < right.second.closes;
  });
  if (next == windows_.end()) return std::nullopt;
  return next->second.closes;
}

}  // namespace sluice
