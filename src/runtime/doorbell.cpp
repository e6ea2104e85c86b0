#include "runtime/doorbell.hpp"

namespace sluice::runtime {

void Doorbell::ring() {
  {
    const std::lock_guard lock{mutex_};
    ++rings_;
  }
  changed_.notify_all();
  if (echo_) echo_();
}

void Doorbell::ring_one() {
  {
    const std::lock_guard lock{mutex_};
    one_wanted_ = true;
  }
  changed_.notify_one();
}

std::uint64_t Doorbell::rings() const {
  const std::lock_guard lock{mutex_};
  return rings_;
}

bool Doorbell::rest(const std::stop_token& stop, Duration at_most, std::uint64_t seen) {
  std::unique_lock lock{mutex_};
  const bool rung = changed_.wait_for(lock, stop, at_most, [&] { return rings_ != seen || one_wanted_; });
  one_wanted_ = false;
  return rung;
}

void Doorbell::sleep(const std::stop_token& stop, Duration at_most) {
  std::unique_lock lock{mutex_};
  never_.wait_for(lock, stop, at_most, [] { return false; });
}

}  // namespace sluice::runtime
