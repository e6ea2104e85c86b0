// SinkBoard: keeps the sinks of this process in step with the state that all processes share, in the store.
//
// Thread-safety: everything may be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include "sink/sink.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::daemon {

/// The sinks of a configuration, by name.
using Sinks = std::map<std::string, std::shared_ptr<sink::Sink>>;

/// The store's time as it was last heard, carried on by the steady clock. Before that: this machine's.
class StoreClock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  [[nodiscard]] Timestamp now() const;
  /// `at` is somewhere between the two.
  void heard(Timestamp at, Steady asked, Steady answered);

 private:
  mutable std::mutex mutex_;
  std::optional<Timestamp> at_;
  Steady heard_{};
};

struct SinkBoardParts {
  store::Store& store;
  std::string identity;  ///< who the audit names for what a receiver did
  telemetry::Logger logger;
  /// Deliveries may be possible again.
  std::function<void()> resumed;
};

class SinkBoard {
 public:
  explicit SinkBoard(SinkBoardParts parts) : parts_(std::move(parts)) {}

  /// The store's time, for sinks; outlives the board.
  [[nodiscard]] std::function<Timestamp()> clock() const;
  Result<void> set_clock();

  /// From now on these are the sinks of this process: declares them, and takes over their states before anything is
  /// delivered. `served` are the handlers of each.
  Result<void> put_up(Sinks sinks, const std::map<std::string, std::vector<std::string>>& served);

  /// Tells the store what the sinks have learnt, and the sinks what the store says.
  Result<void> sync();

  /// What this sink has learnt is in the store when this returns, unless the store is away: sync() tells it then. To be
  /// called before what it means for events is settled.
  void report(const std::string& name);

 private:
  Result<void> sync_locked();
  void send_news(const std::string& name, sink::Sink& sink);
  Result<void> send(const std::string& name, const sink::SinkNews& news);
  void note_changes(const store::SinkRecord& record);
  [[nodiscard]] std::shared_ptr<sink::Sink> find(const std::string& name) const;

  SinkBoardParts parts_;
  std::shared_ptr<StoreClock> clock_ = std::make_shared<StoreClock>();
  std::mutex turn_;                                            // one exchange at a time; guards what follows
  std::vector<store::SinkDeclaration> declared_;               // for a database that was made anew beneath us
  std::map<std::string, std::vector<sink::SinkNews>> unsent_;  // the store was away
  std::map<std::string, store::SinkRecord> seen_;
  mutable std::mutex mutex_;  // guards the map; after `turn_`
  Sinks sinks_;
};

}  // namespace sluice::daemon
