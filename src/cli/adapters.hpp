// What the command line needs from the outside; main.cpp composes it, tests replace it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "alert/alert_channel.hpp"
#include "broker/broker.hpp"
#include "config/config.hpp"
#include "config/store_url.hpp"
#include "host/entropy.hpp"
#include "ops/sinks.hpp"
#include "telemetry/exporting.hpp"

namespace sluice::store {
class Store;
}

namespace sluice::cli {

/// How a store is opened.
struct OpenRequest {
  config::StoreUrl url;
  bool create = false;       ///< an embedded file that is missing is made
  bool needs_schema = true;  ///< bring an embedded file up to date; refuse another schema elsewhere
  int connections = 2;
  Duration longest_statement{};  ///< on a server: longer ones are given up; zero: never
};

/// Signals. Arming blocks their default action, so that a command can end in order.
class Interruption {
 public:
  virtual ~Interruption() = default;
  virtual void arm() = 0;
  /// Waits at most this long; true when a stop was asked for. A second signal ends the process.
  virtual bool wait_for(Duration duration) = 0;

  enum class Asked { nothing, reload, stop };
  /// For whoever can read its configuration again: SIGHUP no longer ends the process.
  virtual void arm_reload() {}
  virtual Asked wait_for_any(Duration duration) { return wait_for(duration) ? Asked::stop : Asked::nothing; }
};

/// Workers at work.
class Daemon {
 public:
  virtual ~Daemon() = default;
  /// Where it answers HTTP; empty: nowhere.
  [[nodiscard]] virtual std::string url() const = 0;
  /// Goes on under another configuration; what is in flight is finished under the old one. After an error the
  /// old one stays in force.
  virtual Result<void> reload(const config::Config& config) = 0;
  /// Stops claiming and finishes what is in flight; returns when that is done.
  virtual void stop() = 0;
};

/// A store with all its roles: the command line passes it on to the daemon and needs the one that operators have.
struct WholeStore {
  std::shared_ptr<store::Store> all;
  store::Administering& administering;
};

struct DaemonRequest {
  store::Store& store;  ///< must outlive the daemon
  const config::Config& config;
  Generation generation = kFirstGeneration;
};

struct Adapters {
  std::function<Result<std::unique_ptr<store::Administering>>(const OpenRequest&)> open_store;
  std::function<Result<WholeStore>(const OpenRequest&)> open_whole;
  std::function<Result<std::unique_ptr<Daemon>>(const DaemonRequest&)> start_daemon;
  /// The embedded migrations; needs no connection.
  std::function<std::vector<store::MigrationText>(config::StoreUrl::Kind)> migrations;
  std::shared_ptr<Interruption> interruption;
  host::Entropy entropy;
  /// One per alert receiver that is configured; nothing is connected yet.
  std::function<std::vector<std::unique_ptr<alert::AlertChannel>>(const config::Config&)> alert_channels;
  /// Delivers the event to the sink that the configuration declares under that name, from this process. not_found when
  /// it declares none.
  std::function<Result<ops::Trial>(const config::Config&, const std::string& name, const EventEnvelope&)> try_sink;
  /// The broker that the configuration names; none where it names none. Does not connect.
  std::function<Result<std::unique_ptr<broker::Broker>>(const config::Config&)> open_broker;
  /// Where traces go, for the life of a command; none where the configuration names no collector.
  std::function<std::shared_ptr<telemetry::Exporting>(const config::Config&)> open_exporting{};
};

}  // namespace sluice::cli
