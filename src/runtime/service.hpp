// A service: a round of work, again and again, resting in between and backing off on errors; and what cuts its rest
// short.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "telemetry/log.hpp"

namespace sluice::runtime {

/// How a resting service is woken early. Waking while nobody rests is not lost: a service notes the count of wakes
/// before it looks for work, and a wake for one stays until somebody has taken it.
///
/// Thread-safety: any number of threads may wake and rest.
class WakeSignal {
 public:
  void wake_all();
  void wake_one();  ///< one of those who rest, or else the next one who is about to
  /// How often everybody was woken.
  [[nodiscard]] std::uint64_t count() const;

  /// Rests until everybody was woken since `seen`, this one was, `at_most` has passed, or a stop is asked for. True: it
  /// was woken.
  bool rest(const std::stop_token& stop, Duration at_most, std::uint64_t seen);

  /// Rests for `at_most` or until a stop is asked for, whoever wakes: for backing off.
  void sleep(const std::stop_token& stop, Duration at_most);

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable_any never_;  // its own, so that nobody who sleeps takes a wake from one who rests
  std::uint64_t count_ = 0;
  bool one_wanted_ = false;
};

struct BackoffLimits {
  Duration first = std::chrono::seconds{1};
  Duration cap = std::chrono::seconds{30};
};

/// How long to rest after an error: doubling from `first` to `cap`, from the start again after a success.
class Backoff {
 public:
  explicit Backoff(BackoffLimits limits);
  Duration next();
  void reset();

 private:
  BackoffLimits limits_;
  Duration next_;
};

/// What claims may cost that somebody was woken for and that find nothing, or next to nothing. Where many events wait
/// that nobody here wants, a claim takes long, and every publish wakes: the next claim keeps a distance in proportion.
/// So it does where a claim finds a few events while more are on their way.
///
/// Thread-safety: any number of threads share one.
class IdleBackoff {
 public:
  using Clock = std::chrono::steady_clock;

  /// Why somebody claims: those who are woken come as often as somebody publishes. Who comes by itself, because its
  /// time has come or after it had found something, has a measure of its own.
  enum class Cause { woken, itself };

  /// A claim that found nothing took this long.
  void found_nothing(Clock::duration took, Cause cause) {
    if (took < kCheap || cause == Cause::itself) return;
    const std::lock_guard lock{mutex_};
    not_before_ = Clock::now() + std::min<Clock::duration>(kShare * took, kLongest);
  }

  /// A claim that found a few events, as many as there were, took this long. When several come during one claim,
  /// claiming again at once finds fewer still for the same price: a short rest lets them gather. A single one is not
  /// kept waiting.
  void found_few(std::int64_t found, Clock::duration took) {
    if (found < kSeveral) return;
    const std::lock_guard lock{mutex_};
    not_before_ = Clock::now() + std::min<Clock::duration>(kShare * took, kLongestGathering);
  }

  /// How long until the next claim may begin. Who has just found something and goes on (`busy`) may know of more: what
  /// others looked for in vain hardly holds it up.
  [[nodiscard]] Clock::duration left(bool busy = false) const {
    const std::lock_guard lock{mutex_};
    const Clock::duration rest = std::max(Clock::duration::zero(), not_before_ - Clock::now());
    return busy ? std::min<Clock::duration>(rest, kLongestGathering) : rest;
  }

  /// Waits until then, or until a stop is asked for.
  void wait(const std::stop_token& stop, bool busy = false) {
    const Clock::duration rest = left(busy);
    if (rest > Clock::duration::zero()) never_.sleep(stop, std::chrono::ceil<Duration>(rest));
  }

 private:
  static constexpr std::chrono::milliseconds kCheap{5};
  static constexpr std::chrono::milliseconds kLongest{250};
  static constexpr std::chrono::milliseconds kLongestGathering{5};
  static constexpr int kSeveral = 3;
  static constexpr int kShare = 4;  // a fifth of the time may go into claims in vain

  mutable std::mutex mutex_;
  Clock::time_point not_before_{};
  WakeSignal never_;
};

struct Service {
  std::string name;  ///< for the log: `worker`, `reaper`
  /// Does one bounded round and says how long to rest before the next; zero for not at all.
  std::function<Result<Duration>(const std::stop_token&)> round;
  /// Called once, after the last round.
  std::function<void()> finish;
  /// Called when a rest has passed and nobody had woken it; may be empty.
  std::function<void()> polled{};
};

struct ServiceEnvironment {
  WakeSignal& signal;  ///< cuts a rest short, but never a back-off
  telemetry::Logger logger;
  BackoffLimits backoff;
};

/// Returns when a stop is asked for; a round that has begun is finished first. A round that throws
/// counts as one that failed.
void run_service(const std::stop_token& stop, const Service& service, const ServiceEnvironment& environment);

/// An error as log fields: code, retry, field, hint and what was said.
void log_error(const telemetry::Logger& logger, std::string_view message, const Error& error);

}  // namespace sluice::runtime
