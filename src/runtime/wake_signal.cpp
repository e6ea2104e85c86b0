#include "runtime/wake_signal.hpp"

namespace sluice::runtime {

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

}  // namespace sluice::runtime
