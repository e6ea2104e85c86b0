// What the tests of alerts share: a channel that answers as it is told, and clocks that the test moves.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "alert/alert_channel.hpp"
#include "runtime/alert_post.hpp"

namespace sluice::runtime {

inline Error away() { return {ErrorCode::unavailable, Retry::safe, "nobody is there", "", ""}; }
inline Error unwanted() { return {ErrorCode::forbidden, Retry::never, "the receiver answered 404", "", ""}; }
inline alert::Sent too_many(Duration silence) { return {false, silence, "429"}; }

/// What the test and the channel, which belongs to what is tested, both know.
class Receiver {
 public:
  std::string name = "webhook";

  /// The next answers; when they are used up everything is accepted.
  void answer(std::vector<Result<alert::Sent>> answers) {
    const std::lock_guard lock{mutex_};
    for (auto& each : answers) answers_.push_back(std::move(each));
  }
  /// From now on no call returns before it is asked to stop.
  void hang() {
    const std::lock_guard lock{mutex_};
    hanging_ = true;
  }

  Result<alert::Sent> receive(const Alert& alert, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    calls_.push_back(alert);
    changed_.notify_all();
    if (hanging_) {
      changed_.wait(lock, stop, [] { return false; });
      return away();
    }
    if (answers_.empty()) return alert::Sent{};
    Result<alert::Sent> next = std::move(answers_.front());
    answers_.pop_front();
    return next;
  }

  [[nodiscard]] std::vector<Alert> calls() const {
    const std::lock_guard lock{mutex_};
    return calls_;
  }
  /// Waits for the signal, not for time: the test framework's own limit ends a test that hangs.
  void await(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return calls_.size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Result<alert::Sent>> answers_;
  std::vector<Alert> calls_;
  bool hanging_ = false;
};

class ScriptedChannel final : public alert::AlertChannel {
 public:
  explicit ScriptedChannel(Receiver& receiver) : receiver_(receiver) {}
  [[nodiscard]] std::string_view name() const override { return receiver_.name; }
  [[nodiscard]] std::string display() const override { return "https://receiver/***"; }
  Result<alert::Sent> send(const Alert& alert, const std::stop_token& stop) override {
    return receiver_.receive(alert, stop);
  }

 private:
  Receiver& receiver_;
};

/// Both clocks of AlertClocks, moved together.
class AlertTime {
 public:
  [[nodiscard]] AlertClocks clocks() {
    return {[this] { return std::chrono::steady_clock::time_point{passed_}; }, [this] { return Timestamp{passed_}; }};
  }
  void advance(Duration by) { passed_ += by; }

 private:
  Duration passed_ = std::chrono::hours{24};
};

inline FailureNotice failure(const std::string& fingerprint, int number = 1) {
  FailureNotice notice;
  notice.event_type = "test.happened";
  notice.fingerprint = fingerprint;
  notice.attempts = number;
  return notice;
}

}  // namespace sluice::runtime
