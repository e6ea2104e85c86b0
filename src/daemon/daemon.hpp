// The daemon: delivery, alerts, bulk operations, the HTTP side and the figures about all of them, as one process.
//
// Thread-safety: the owner's thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "config/config.hpp"
#include "daemon/delivery.hpp"
#include "daemon/http_surface.hpp"
#include "ops/operation_runner.hpp"
#include "ops/overview.hpp"
#include "runtime/alerts.hpp"
#include "runtime/notifier.hpp"
#include "runtime/service.hpp"
#include "telemetry/exporting.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::daemon {

struct DaemonParts {
  store::Store& store;  ///< outlives the daemon
  Generation generation = kFirstGeneration;
  telemetry::Logger logger;
  host::Entropy entropy;
  std::function<std::string()> fresh_identity;  ///< of this process, another one at each call
  std::string version;
  std::function<double()> uniform01;
  std::function<bool(std::int64_t pid)> process_is_gone;  ///< as runtime::Machine::is_gone
  OpenSinks open_sinks;
  std::unique_ptr<broker::Broker> broker;  ///< none: no broker is configured
  std::vector<std::unique_ptr<alert::AlertChannel>> alert_channels;
  std::shared_ptr<telemetry::Exporting> exporting{};  ///< none: nothing is exported

  [[nodiscard]] Tracer* tracer() const { return exporting ? exporting->tracer() : nullptr; }
};

class Daemon {
 public:
  /// Everything runs when it returns.
  static Result<std::unique_ptr<Daemon>> start(const config::Config& config, DaemonParts parts);
  ~Daemon() { stop(); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] std::string url() const { return surface_ ? surface_->url() : std::string{}; }
  /// Takes the new sinks, subscriptions, hooks and tokens; the store, the address and the workers' settings stay.
  Result<void> reload(const config::Config& config);
  void stop();

 private:
  Daemon(const config::Config& config, DaemonParts parts);

  Result<void> begin(const config::Config& config);
  void start_alerts(const config::Config& config, std::vector<std::unique_ptr<alert::AlertChannel>> channels);
  [[nodiscard]] runtime::FailureListener failure_listener();
  [[nodiscard]] runtime::SupervisorOptions supervisor_options(const config::Config& config);
  [[nodiscard]] SurfaceParts surface_parts(const config::Config& config);
  void take_back_orphans(const config::Config& config);
  void launch(runtime::Service service, runtime::WakeSignal& signal);
  void refresh_metrics();
  http::Exposed expose(std::string_view accept);

  DaemonParts parts_;
  std::string identity_;  // under which it carries out bulk changes
  telemetry::Registry registry_;
  telemetry::MetricSet metrics_{registry_};
  std::unique_ptr<runtime::Alerts> alerts_;
  runtime::Notifier notifier_;  // one for all that announce work, and all that look for it
  Delivery delivery_;
  ops::OperationRunner runner_;
  ops::Overview overview_;
  runtime::WakeSignal operations_;
  runtime::WakeSignal nothing_;  // never woken
  std::unique_ptr<HttpSurface> surface_;
  std::atomic<bool> ready_ = false;  // serves, and is not stopping
  bool stopped_ = false;
  std::vector<std::jthread> services_;  // last: they use everything above
};

}  // namespace sluice::daemon
