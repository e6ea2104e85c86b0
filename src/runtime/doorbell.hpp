// Doorbell: how a resting service is woken early. Ringing while nobody rests is not lost, because a
// service notes the count of rings before it looks for work.
//
// Thread-safety: any number of threads may ring and rest.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include <sluice/time.hpp>

namespace sluice::runtime {

class Doorbell {
 public:
  void ring();
  [[nodiscard]] std::uint64_t rings() const;

  /// Rests until the bell has rung since `seen`, `at_most` has passed, or a stop is asked for.
  void rest(const std::stop_token& stop, Duration at_most, std::uint64_t seen);

  /// Rests for `at_most` or until a stop is asked for, whatever rings: for backing off.
  void sleep(const std::stop_token& stop, Duration at_most);

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t rings_ = 0;
};

}  // namespace sluice::runtime
