// Whether publishers must notify, where they do so only while every worker is idle.
//
// Two advisory locks per channel. `awake` is held shared by each process that works; the process that gets
// it exclusively is the last one to fall asleep. That one takes `bell` exclusively: publishers that cannot
// have it shared notify. Publishers that got it shared do not and keep it until they commit, so `bell` is
// free only when every event published without a notification is visible: one more claim, and it may sleep.
//
// A crash frees the locks of a process, and the next in the queue becomes the last one.
//
// Thread-safety: none; belongs to the listener's thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "store/postgres/pq.hpp"

namespace sluice::store {

class NotificationLock {
 public:
  using Clock = std::chrono::steady_clock;
  /// Steps on the way to sleep, by name, for whoever wants to interfere: `awake`, `requested`, `last`,
  /// `bell`, `asleep`.
  using Observer = std::function<void(std::string_view step)>;

  static Result<NotificationLock> take(const pq::ConnectOptions& options, std::string channel, Observer observer);

  /// One step towards sleep, or away from it when there is work. True: the workers should claim now.
  Result<bool> step(bool busy);

  /// Notified: this process is awake from now on, whatever it finds.
  Result<void> wake();

  /// When step() should be called again although nothing happens on the socket.
  [[nodiscard]] std::optional<Clock::time_point> next_step() const { return next_step_; }
  [[nodiscard]] int socket() const { return connection_.socket(); }

 private:
  enum class State {
    unmarked,   ///< awake, without the shared lock: somebody waits for it exclusively
    awake,      ///< holds `awake` shared
    requested,  ///< waits for `awake` exclusively
    last,       ///< has it; wants `bell`
    asleep,     ///< has both
  };

  NotificationLock(pq::Connection connection, std::string channel, Observer observer);
  void enter(State state, std::string_view name);
  void again_in(Clock::duration rest) { next_step_ = Clock::now() + rest; }
  Result<bool> ask(const pq::Statement& statement);
  Result<bool> try_bell();

  pq::Connection connection_;
  std::string channel_;
  Observer observer_;
  State state_ = State::unmarked;
  Clock::duration bell_rest_{};
  std::optional<Clock::time_point> next_step_ = Clock::now();
};

}  // namespace sluice::store
