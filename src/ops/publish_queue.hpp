// PublishQueue: many publishers, few commits. Whoever publishes hands in events and is told later; everything that
// was handed in while one commit was under way goes into the next.
//
// Each submission is stored as a whole or not at all, and answered for itself: one that the store refuses takes no
// other down. Nothing is told before the store has it.
//
// Thread-safety: submit() from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <sluice/result.hpp>
#include "store/publish.hpp"

namespace sluice::ops {

struct PublishQueueOptions {
  std::size_t max_events = 10'000;                        ///< waiting; more are refused
  std::size_t max_bytes = std::size_t{64} * 1024 * 1024;  ///< of payloads that wait
  std::size_t batch_events = 1'000;                       ///< in one commit, unless one submission has more
  /// Told before and after each attempt to store; must not block. `may_be_there`: it succeeded, or nobody knows. None:
  /// nobody.
  std::function<void(std::span<const store::NewEvent> events)> storing{};
  std::function<void(std::span<const store::NewEvent> events, bool may_be_there)> stored{};
  /// Asked about each event before it is stored; its error is the submission's. May ask the store. None: all are good.
  std::function<Result<void>(const store::NewEvent& event)> check{};
};

class PublishQueue {
 public:
  using Outcomes = Result<std::vector<store::PublishOutcome>>;
  /// `events` are the submission's own, for as long as the call lasts. An error that is in doubt may mean that they are
  /// stored: submitting the same ids again is safe.
  using Done = std::function<void(std::span<const store::NewEvent> events, const Outcomes& outcomes)>;

  /// The store outlives the queue.
  explicit PublishQueue(store::Publishing& store, PublishQueueOptions options = {});
  ~PublishQueue();
  PublishQueue(const PublishQueue&) = delete;
  PublishQueue& operator=(const PublishQueue&) = delete;

  void start();
  /// Stores what waits, then ends. What is submitted from now on is refused as unavailable.
  void stop();

  /// `done` is called exactly once and must not throw: from the queue's thread, or from the caller's own when there is
  /// no room
  /// (`ErrorCode::exhausted`) or the queue has stopped.
  void submit(std::vector<store::NewEvent> events, Done done);

  /// Stores up to one batch of what waits and tells; false when nothing waited. The queue's thread does this
  /// again and again.
  bool step();

 private:
  struct Submission {
    std::vector<store::NewEvent> events;
    Done done;
  };
  struct Part {
    std::size_t begin = 0;
    std::size_t count = 0;
    Done done;
  };
  [[nodiscard]] std::optional<Error> refusal(std::size_t events, std::size_t bytes) const;
  /// Leaves the submission as it is when it refuses.
  std::optional<Error> take_in(Submission& submission);
  std::vector<Submission> take();
  [[nodiscard]] std::optional<Error> complaint(std::span<const store::NewEvent> events) const;
  Outcomes attempt(std::span<const store::NewEvent> events);
  void publish(std::span<const store::NewEvent> all, std::span<const Part> parts);
  void run();

  store::Publishing& store_;
  PublishQueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<Submission> queue_;
  std::size_t queued_events_ = 0;
  std::size_t queued_bytes_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace sluice::ops
