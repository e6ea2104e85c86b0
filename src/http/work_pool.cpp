#include "http/work_pool.hpp"

#include <utility>

namespace sluice::http {

WorkPool::WorkPool(int threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
}

bool WorkPool::run(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    if (stopped_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void WorkPool::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void WorkPool::loop() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace sluice::http
