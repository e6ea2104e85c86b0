// A few threads for what may block, with a bounded queue before them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::http {

class WorkPool {
 public:
  WorkPool(int threads, std::size_t most_waiting);
  ~WorkPool() { stop(); }
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  /// False: too much is waiting already, or it was stopped.
  bool run(std::function<void()> work);
  /// Finishes what has begun and what waits; takes nothing new.
  void stop();

 private:
  void loop();

  std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace sluice::http
