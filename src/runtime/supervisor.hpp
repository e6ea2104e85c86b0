// Supervisor: owns the threads that run workers, reaper and retention on one store.
//
// Thread-safety: wake(), request_stop(), and totals() may be called from any thread; the rest from
// the owner's.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backoff.hpp"
#include "runtime/doorbell.hpp"
#include "runtime/reaper.hpp"
#include "runtime/retention.hpp"
#include "runtime/service.hpp"
#include "runtime/worker.hpp"
#include "sink/sink.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct SupervisorOptions {
  WorkerOptions worker;
  int workers = 1;                                   ///< threads that claim; at least 1
  Duration poll_interval = std::chrono::seconds{1};  ///< how long an idle worker rests at most
  Duration reap_interval = std::chrono::seconds{10};
  int reap_limit = 500;
  Duration retention_interval = std::chrono::minutes{10};
  RetentionOptions retention;
  BackoffLimits backoff;  ///< rests after an error of the store

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

class Supervisor {
 public:
  /// Starts the threads. The references outlive the supervisor.
  static Result<std::unique_ptr<Supervisor>> start(store::Store& store, sink::Sink& sink, telemetry::Logger logger,
                                                   SupervisorOptions options);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Something may be claimable: idle workers look at once.
  void wake();

  /// Asks every thread to end. Nothing new is claimed; what is in flight is finished and settled.
  void request_stop();

  /// Waits for the threads; returns at once when that was done before.
  void join();

  /// What the workers have done since the start.
  [[nodiscard]] StepReport totals() const;

 private:
  Supervisor(store::Store& store, sink::Sink& sink, telemetry::Logger logger, SupervisorOptions options);

  Service worker_service(int number);
  Service reaper_service();
  Service retention_service();
  void launch(Service service, Doorbell& doorbell);
  Result<Duration> idle_rest();
  void count(const StepReport& report);

  store::Store& store_;
  sink::Sink& sink_;
  telemetry::Logger logger_;
  SupervisorOptions options_;
  Doorbell work_;     // rung by wake()
  Doorbell nothing_;  // never rung: for services that only the clock wakes
  mutable std::mutex totals_mutex_;
  StepReport totals_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace sluice::runtime
