// Whose turn it is to write. Unlike a mutex, it may be given back by another thread than took it, because
// the transaction of an effect may end on another one, and it is not waited for without end.
#pragma once

#include <condition_variable>
#include <mutex>

#include <sluice/time.hpp>

namespace sluice::store::sqlite {

class Turn {
 public:
  /// False when it was not free within `patience`.
  [[nodiscard]] bool take(Duration patience) {
    std::unique_lock lock{mutex_};
    if (!free_again_.wait_for(lock, patience, [this] { return !taken_; })) return false;
    taken_ = true;
    return true;
  }

  void give_back() {
    {
      const std::lock_guard lock{mutex_};
      taken_ = false;
    }
    free_again_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_again_;
  bool taken_ = false;
};

}  // namespace sluice::store::sqlite
