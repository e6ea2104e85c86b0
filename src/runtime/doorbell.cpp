#include "runtime/doorbell.hpp"

namespace sluice::runtime {

void Doorbell::ring() {
  {
    const std::lock_guard lock{mutex_};
    ++rings_;
  }
  changed_.notify_all();
}

std::uint64_t Doorbell::rings() const {
  const std::lock_guard lock{mutex_};
  return rings_;
}

void Doorbell::rest(const std::stop_token& stop, Duration at_most, std::uint64_t seen) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, stop, at_most, [&] { return rings_ != seen; });
}

void Doorbell::sleep(const std::stop_token& stop, Duration at_most) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, stop, at_most, [] { return false; });
}

}  // namespace sluice::runtime
