#include "cli/posix_interruption.hpp"

#include <csignal>
#include <ctime>
#include <initializer_list>

namespace sluice::cli {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

sigset_t stop_signals() { return set_of({SIGINT, SIGTERM}); }

timespec timespec_of(Duration duration) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(duration);
  return {static_cast<std::time_t>(whole.count()),
          static_cast<long>(std::chrono::nanoseconds{duration - whole}.count())};
}

}  // namespace

void PosixInterruption::arm() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool PosixInterruption::wait_for(Duration duration) {
  if (stopped_) return true;
  const sigset_t set = stop_signals();
  const timespec limit = timespec_of(duration);
  // EINTR means that some other signal was handled: the caller's loop waits again.
  if (sigtimedwait(&set, nullptr, &limit) >= 0) take_stop();
  return stopped_;
}

void PosixInterruption::arm_reload() {
  const sigset_t set = set_of({SIGHUP});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Interruption::Asked PosixInterruption::wait_for_any(Duration duration) {
  if (stopped_) return Asked::stop;
  const sigset_t set = set_of({SIGINT, SIGTERM, SIGHUP});
  const timespec limit = timespec_of(duration);
  const int signal = sigtimedwait(&set, nullptr, &limit);
  if (signal == SIGHUP) return Asked::reload;
  if (signal >= 0) take_stop();
  return stopped_ ? Asked::stop : Asked::nothing;
}

void PosixInterruption::take_stop() {
  stopped_ = true;
  const sigset_t set = stop_signals();
  // timeout(1) and a terminal's Ctrl-C may send the same signal twice, to the process and to its group:
  // what comes at once is one request, what comes later means it.
  constexpr timespec kAtOnce{0, 50'000'000};
  static_cast<void>(sigtimedwait(&set, nullptr, &kAtOnce));
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace sluice::cli
