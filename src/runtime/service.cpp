#include "runtime/service.hpp"

#include <algorithm>
#include <exception>

namespace sluice::runtime {

namespace {

Result<Duration> guarded_round(const Service& service, const std::stop_token& stop) {
  try {
    return service.round(stop);
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::internal, Retry::safe, thrown.what(), {}, {}};
  }
}

}  // namespace

void log_error(const telemetry::Logger& logger, std::string_view message, const Error& error) {
  logger.error(message, {{"error", error.message},
                         {"code", name(error.code)},
                         {"retry", name(error.retry)},
                         {"hint", error.hint.empty() ? std::nullopt : std::optional{error.hint}}});
}

void run_service(const std::stop_token& stop, const Service& service, const ServiceEnvironment& environment) {
  Backoff backoff{environment.backoff};
  while (!stop.stop_requested()) {
    const std::uint64_t seen = environment.signal.count();
    const Result<Duration> rest = guarded_round(service, stop);
    if (!rest) {
      log_error(environment.logger, service.name + " round failed, backing off", rest.error());
      environment.signal.sleep(stop, backoff.next());
      continue;
    }
    backoff.reset();
    if (*rest <= Duration::zero()) continue;
    const bool woken = environment.signal.rest(stop, *rest, seen);
    if (!woken && service.polled && !stop.stop_requested()) service.polled();
  }
  if (service.finish) service.finish();
}

void WakeSignal::wake_all() {
  {
    const std::lock_guard lock{mutex_};
    ++count_;
  }
  changed_.notify_all();
}

void WakeSignal::wake_one() {
  {
    const std::lock_guard lock{mutex_};
    one_wanted_ = true;
  }
  changed_.notify_one();
}

std::uint64_t WakeSignal::count() const {
  const std::lock_guard lock{mutex_};
  return count_;
}

bool WakeSignal::rest(const std::stop_token& stop, Duration at_most, std::uint64_t seen) {
  std::unique_lock lock{mutex_};
  const bool woken = changed_.wait_for(lock, stop, at_most, [&] { return count_ != seen || one_wanted_; });
  one_wanted_ = false;
  return woken;
}

void WakeSignal::sleep(const std::stop_token& stop, Duration at_most) {
  std::unique_lock lock{mutex_};
  never_.wait_for(lock, stop, at_most, [] { return false; });
}

Backoff::Backoff(BackoffLimits limits) : limits_(limits), next_(std::min(limits.first, limits.cap)) {}

Duration Backoff::next() {
  const Duration rest = next_;
  next_ = rest > limits_.cap / 2 ? limits_.cap : rest * 2;
  return rest;
}

void Backoff::reset() { next_ = std::min(limits_.first, limits_.cap); }

}  // namespace sluice::runtime
