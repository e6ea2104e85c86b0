// Doorbell: how a resting service is woken early. Ringing while nobody rests is not lost, because a
// service notes the count of rings before it looks for work.
//
// Thread-safety: any number of threads may ring and rest.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>

#include <sluice/time.hpp>

namespace sluice::runtime {

class Doorbell {
 public:
  /// `echo` is called with every ring(), on the ringer's thread; it must not block.
  explicit Doorbell(std::function<void()> echo = {}) : echo_(std::move(echo)) {}

  void ring();      ///< everybody looks
  void ring_one();  ///< one of those who rest looks, or else the next one who is about to rest
  [[nodiscard]] std::uint64_t rings() const;

  /// Rests until the bell has rung since `seen`, `at_most` has passed, or a stop is asked for. True: it has rung.
  bool rest(const std::stop_token& stop, Duration at_most, std::uint64_t seen);

  /// Rests for `at_most` or until a stop is asked for, whatever rings: for backing off.
  void sleep(const std::stop_token& stop, Duration at_most);

 private:
  std::function<void()> echo_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable_any never_;  // its own, so that nobody who sleeps takes a ring from one who rests
  std::uint64_t rings_ = 0;
  bool one_wanted_ = false;
};

}  // namespace sluice::runtime
