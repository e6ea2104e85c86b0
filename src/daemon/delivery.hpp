// Delivery: the sinks that the configuration declares and the workers that serve them, as one thing that can be
// exchanged while the process runs. One runtime serves all sinks, and each sink has a pool of workers of its own: one
// that is slow or away holds up no other.
//
// Thread-safety: the sink context may be used from any thread; start, reload and stop from the owner's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "daemon/handlers.hpp"
#include "daemon/leftovers.hpp"
#include "daemon/sink_board.hpp"
#include "http/routes.hpp"
#include "runtime/supervisor.hpp"
#include "sink/sink.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::daemon {

/// The sinks of a configuration, by name; `log` is always there. `clock` is the store's time.
using OpenSinks = std::function<Result<Sinks>(const config::Config& config, const std::function<Timestamp()>& clock)>;

/// The handler that logs every event where nothing else is declared.
inline constexpr std::string_view kLogHandler = "sluice.log";

struct DeliveryParts {
  store::Store& store;
  Generation generation = kFirstGeneration;
  telemetry::Logger logger;
  host::Entropy entropy;
  telemetry::MetricSet& metrics;
  runtime::Notifier& notifier;  ///< outlives it
  OpenSinks open_sinks;
  std::function<std::string()> fresh_identity;
  /// Everything but `withdraw`, `declared_by` and the identity.
  std::function<runtime::SupervisorOptions(const config::Config& config)> options;
};

class Delivery final : public http::LocalSinks {
 public:
  explicit Delivery(DeliveryParts parts)
      : parts_(std::move(parts)),
        board_({parts_.store, parts_.fresh_identity(), parts_.logger, [this] { parts_.notifier.announce(); }}),
        leftovers_(parts_.store, parts_.generation, parts_.logger) {}
  ~Delivery() override { stop(); }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// Handlers that an earlier run under this configuration declared, and that it no longer declares, are unsubscribed.
  Result<void> start(const config::Config& config);
  /// Finishes what is in flight under the old configuration, then goes on under the new one. Handlers that it no
  /// longer declares are unsubscribed. After an error the old one is back in force.
  Result<void> reload(const config::Config& config);
  /// Returns when what was in flight is finished or given back.
  void stop();

  /// Goes on with unsubscribing what other workers still served at the start; how long to rest then.
  Result<Duration> reconcile() { return leftovers_.step(); }

  /// Why the workers cannot claim or settle at present; none: they can.
  [[nodiscard]] std::optional<Error> trouble() const;

  /// Exchanges with the store what this process and the others know about the sinks.
  Result<void> sync_sinks() { return board_.sync(); }

  [[nodiscard]] std::vector<sink::SinkStatus> list() const override;
  void refresh() override;
  Result<sink::ProbeReport> probe(const std::string& name) override;

 private:
  /// One configuration at work.
  struct Shift {
    config::Config config;
    Sinks sinks;
    std::map<std::string, std::vector<std::string>> served;  // sink → handlers
    std::unique_ptr<runtime::Supervisor> supervisor;         // with a pool per sink that is subscribed
  };
  Result<std::unique_ptr<Shift>> prepare(const config::Config& config) const;
  Result<void> begin(Shift& shift);
  [[nodiscard]] runtime::SupervisorOptions options(const Shift& shift) const;
  [[nodiscard]] Result<std::vector<runtime::PoolOptions>> pools(const Shift& shift, int workers) const;
  [[nodiscard]] Result<runtime::HandlerSet> handlers(const Shift& shift, const std::string& sink) const;
  static void end(Shift& shift);
  [[nodiscard]] Outlet outlet(const Shift& shift, const std::string& sink) const;
  Result<void> forget(const Shift& before, const Shift& after);
  Result<void> forget_log_handler(const Shift& shift);
  Result<void> note_leftovers(const Shift& shift);
  Result<std::shared_ptr<sink::Sink>> find(const std::string& name) const;

  DeliveryParts parts_;
  mutable SinkBoard board_;
  Leftovers leftovers_;
  mutable std::mutex mutex_;        // guards the pointer, for the context
  std::shared_ptr<Shift> current_;  // none: stopped
};

}  // namespace sluice::daemon
