// Task: what a coroutine handler returns. It starts when the listener starts it and may suspend on any
// awaitable, on whose thread it then goes on. The coroutines of a claimed batch are under way at the same
// time; one worker thread waits for all of them.
//
//   sluice::Task index(const sluice::EventEnvelope& event) {
//     const auto page = co_await fetch(event.payload());
//     co_await store(page);
//   }
//
// The envelope outlives the task. An exception that leaves the coroutine is a failed attempt.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

namespace sluice {

class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::exception_ptr thrown;
    std::function<void(std::exception_ptr)> finished;

    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        // Whoever waits may destroy the coroutine as soon as it is told, so nothing of it is touched after.
        auto tell = std::move(ended.promise().finished);
        auto error = std::move(ended.promise().thrown);
        if (tell) tell(std::move(error));
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { thrown = std::current_exception(); }
  };

  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  /// A task that has been started must have finished.
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Runs the coroutine to its first suspension. `finished` is called once, at its end, on the thread on
  /// which it ended, with what it threw or null.
  void start(std::function<void(std::exception_ptr)> finished) {
    coroutine_.promise().finished = std::move(finished);
    coroutine_.resume();
  }

  // A task may await another: `co_await step(event)`.
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    start([this, caller](std::exception_ptr thrown) {
      thrown_ = std::move(thrown);
      caller.resume();
    });
  }
  void await_resume() {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  std::coroutine_handle<promise_type> coroutine_;
  std::exception_ptr thrown_;
};

}  // namespace sluice
