// The ear of a process: a connection that does nothing but LISTEN, and where only sleepers are rung, a
// baton per channel.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/listening.hpp"
#include "store/postgres/postgres_baton.hpp"
#include "store/postgres/pq_pool.hpp"

namespace sluice::store {

struct EarOptions {
  pq::ConnectOptions connection;
  std::vector<std::string> channels;
  std::string probe_channel;  ///< nobody else's
  Baton::Observer observer;
};

class PostgresEar final : public Ear {
 public:
  /// `notes` are connections for probes and calls to others; outlives the ear.
  static Result<std::unique_ptr<Ear>> open(EarOptions options, pq::Pool& notes);
  ~PostgresEar() override;
  PostgresEar(const PostgresEar&) = delete;
  PostgresEar& operator=(const PostgresEar&) = delete;

  Result<Heard> wait(Duration at_most) override;
  [[nodiscard]] std::span<const Uuid> events() const override { return events_; }
  Result<void> probe() override;
  void attend(bool busy) override;
  void interrupt() override;
  Result<void> wake_others() override;
  [[nodiscard]] std::string obstacle() const override { return obstacle_; }

 private:
  PostgresEar(EarOptions options, pq::Pool& notes, pq::Connection connection);
  Result<void> start();
  Result<void> follow_mode();
  Result<void> finish_waking();
  Result<Heard> read_notes();
  Result<bool> step_batons();
  Result<void> notify(const std::string& channel);
  Result<void> poll_until(Baton::Clock::time_point deadline);
  void signal();

  EarOptions options_;
  pq::Pool& notes_;
  pq::Connection connection_;
  std::vector<Baton> batons_;  // empty: every publish rings
  std::atomic<bool> busy_ = false;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> batons_in_use_ = false;
  std::string obstacle_;
  std::vector<Uuid> events_;  // of the notifications that were read last; empty: one of them names none
  bool waking_ = false;
  int signal_descriptor_ = -1;
};

}  // namespace sluice::store
