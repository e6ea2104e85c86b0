// The listener connection of a process: it does nothing but LISTEN. Where publishers notify only while every worker is
// idle, there is a notification lock per channel.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/observe.hpp"
#include "store/postgres/notification_lock.hpp"
#include "store/postgres/pq_pool.hpp"

namespace sluice::store {

struct ListenerOptions {
  pq::ConnectOptions connection;
  std::vector<std::string> channels;
  std::string probe_channel;  ///< nobody else's
  NotificationLock::Observer observer;
};

class PostgresListener final : public ListenerConnection {
 public:
  /// `notes` are connections for probes and calls to others; outlives it.
  static Result<std::unique_ptr<ListenerConnection>> open(ListenerOptions options, pq::Pool& notes);
  ~PostgresListener() override;
  PostgresListener(const PostgresListener&) = delete;
  PostgresListener& operator=(const PostgresListener&) = delete;

  Result<Heard> wait(Duration at_most) override;
  [[nodiscard]] std::span<const Uuid> events() const override { return events_; }
  Result<void> probe() override;
  void attend(bool busy) override;
  void interrupt() override;
  Result<void> wake_others() override;
  [[nodiscard]] std::string obstacle() const override { return obstacle_; }

 private:
  PostgresListener(ListenerOptions options, pq::Pool& notes, pq::Connection connection);
  Result<void> start();
  Result<void> follow_mode();
  Result<void> finish_waking();
  Result<Heard> read_notes();
  Result<bool> step_locks();
  Result<void> notify(const std::string& channel);
  Result<void> poll_until(NotificationLock::Clock::time_point deadline);
  void signal();

  ListenerOptions options_;
  pq::Pool& notes_;
  pq::Connection connection_;
  std::vector<NotificationLock> locks_;  // empty: every publish notifies
  std::atomic<bool> busy_ = false;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> locks_in_use_ = false;
  std::string obstacle_;
  std::vector<Uuid> events_;  // of the notifications that were read last; empty: one of them names none
  bool waking_ = false;
  bool echoed_ = false;  // a probe has come back, and wait() has not said so yet
  int signal_descriptor_ = -1;
};

}  // namespace sluice::store
