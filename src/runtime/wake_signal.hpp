// WakeSignal: how a resting service is woken early. Waking while nobody rests is not lost: a service notes the count of
// wakes before it looks for work, and a wake for one stays until somebody has taken it.
//
// Thread-safety: any number of threads may wake and rest.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include <sluice/time.hpp>

namespace sluice::runtime {

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

}  // namespace sluice::runtime
