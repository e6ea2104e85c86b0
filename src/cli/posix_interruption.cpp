#include "cli/posix_interruption.hpp"

#include <csignal>
#include <ctime>

namespace sluice::cli {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void PosixInterruption::arm() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool PosixInterruption::wait_for(Duration duration) {
  if (stopped_) return true;
  const sigset_t set = stop_signals();
  const auto whole = std::chrono::floor<std::chrono::seconds>(duration);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(whole.count());
  limit.tv_nsec = static_cast<long>(std::chrono::nanoseconds{duration - whole}.count());
  // EINTR means that some other signal was handled: the caller's loop waits again.
  stopped_ = sigtimedwait(&set, nullptr, &limit) >= 0;
  if (!stopped_) return false;
  // timeout(1) and a terminal's Ctrl-C may send the same signal twice, to the process and to its group:
  // what comes at once is one request, what comes later means it.
  constexpr timespec kAtOnce{0, 50'000'000};
  static_cast<void>(sigtimedwait(&set, nullptr, &kAtOnce));
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return true;
}

}  // namespace sluice::cli
