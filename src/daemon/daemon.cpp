#include "daemon/daemon.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "runtime/reaper.hpp"
#include "runtime/service.hpp"
#include "runtime/telemetry.hpp"
#include "telemetry/metrics.hpp"

namespace sluice::daemon {
namespace {

constexpr int kFirstBatch = 10;
// How soon a sink follows what another process, or an operator, did to it.
constexpr Duration kSinkInterval = std::chrono::seconds{2};

// Bulk changes that an operator started: this process carries them out, or takes over from one that died. What was
// replayed can be delivered here at once.
runtime::Service operations_service(ops::OperationRunner& runner, runtime::Notifier& notifier) {
  return {"operations",
          [&runner, &notifier](const std::stop_token&) {
            auto rest = runner.round();
            if (rest && *rest < ops::OperationRunner::kNothingToDo) notifier.announce();
            return rest;
          },
          [&runner] { (void)runner.release_all(); }};
}

}  // namespace

Daemon::Daemon(const config::Config& config, DaemonParts parts)
    : parts_(std::move(parts)),
      identity_(parts_.fresh_identity()),
      notifier_(parts_.generation),
      delivery_({parts_.store, parts_.generation, parts_.logger, parts_.entropy, metrics_, notifier_, parts_.open_sinks,
                 parts_.fresh_identity, [this](const config::Config& wanted) { return supervisor_options(wanted); }}),
      runner_(parts_.store, identity_, config.operation_lease, parts_.tracer()),
      overview_(parts_.store, metrics_,
                {.retention = config.retention, .dead_letters = config.dead_letters, .generation = parts_.generation}) {
}

Result<std::unique_ptr<Daemon>> Daemon::start(const config::Config& config, DaemonParts parts) {
  std::unique_ptr<Daemon> daemon{new Daemon{config, std::move(parts)}};
  SLUICE_CHECK(daemon->begin(config));
  return daemon;
}

Result<void> Daemon::begin(const config::Config& config) {
  metrics_.process.build_info.with({parts_.version}).set(1);
  start_alerts(config, std::move(parts_.alert_channels));
  // First what may fail for want of an address: nothing has been claimed then.
  if (config.http.listen) {
    SLUICE_TRY(surface_, HttpSurface::start(config, surface_parts(config)));
  }
  take_back_orphans(config);
  SLUICE_CHECK(delivery_.start(config));
  launch(operations_service(runner_, notifier_), operations_);
  launch({"overview", [this](const std::stop_token&) { return overview_.step(parts_.entropy.clock()); }, [] {}},
         nothing_);
  launch({"sinks",
          [this](const std::stop_token&) -> Result<Duration> {
            SLUICE_CHECK(delivery_.sync_sinks());
            return kSinkInterval;
          },
          [] {}},
         nothing_);
  launch({"subscriptions", [this](const std::stop_token&) { return delivery_.reconcile(); }, [] {}}, nothing_);
  if (parts_.exporting && parts_.exporting->exports_metrics()) {
    launch({"metrics export",
            [this](const std::stop_token& stop) -> Result<Duration> {
              refresh_metrics();
              return parts_.exporting->send_metrics(registry_, stop);
            },
            [] {}},
           nothing_);
  }
  ready_ = true;
  return {};
}

// What a daemon of this machine held when it was killed. Failing is no reason not to start: the claims run out.
void Daemon::take_back_orphans(const config::Config& config) {
  const runtime::SupervisorOptions options = supervisor_options(config);
  const auto declared = [&config](const std::string& name) -> const config::SubscriptionConfig* {
    for (const auto& one : config.declared.subscriptions) {
      if (one.handler_name == name) return &one;
    }
    return nullptr;
  };
  runtime::ReaperOptions reaping{config.retry, parts_.uniform01, options.on_failed};
  reaping.retry_of = [&](const std::string& name) {
    const auto* one = declared(name);
    return one != nullptr ? std::optional{one->retry} : std::nullopt;
  };
  reaping.pool_of = [&](const std::string& name) {
    const auto* one = declared(name);
    return one != nullptr ? std::optional{one->sink} : std::nullopt;
  };
  runtime::Reaper reaper{parts_.store, parts_.store, parts_.store, parts_.logger, std::move(reaping)};
  const auto taken =
      runtime::take_back_orphans(parts_.store, {identity_, parts_.process_is_gone}, reaper, parts_.logger);
  if (!taken) runtime::log_error(parts_.logger, "cannot look for what a killed worker left behind", taken.error());
  if (taken) runtime::count_reaped(&metrics_, *taken, parts_.entropy.clock());
}

void Daemon::start_alerts(const config::Config& config, std::vector<std::unique_ptr<alert::AlertChannel>> channels) {
  if (channels.empty()) return;
  runtime::AlertsOptions options;
  options.throttle.window = config.alerts.window;
  options.random = parts_.entropy.random;
  alerts_ = std::make_unique<runtime::Alerts>(std::move(channels), parts_.store, parts_.logger, std::move(options));
  alerts_->start();
}

runtime::FailureListener Daemon::failure_listener() {
  if (!alerts_) return {};
  return [this](FailureNotice notice) { alerts_->offer(std::move(notice)); };
}

runtime::SupervisorOptions Daemon::supervisor_options(const config::Config& config) {
  runtime::SupervisorOptions options;
  options.worker.generation = parts_.generation;
  options.worker.batch_max = config.worker.batch;
  options.worker.batch_min = std::min(kFirstBatch, config.worker.batch);
  options.worker.ttl = config.worker.claim_ttl;
  options.worker.uniform01 = parts_.uniform01;
  options.worker.record_successes = config.worker.record_successes;
  options.workers = config.worker.threads;
  options.listener.poll = config.worker.poll_interval;
  options.listener.safety_poll = config.worker.safety_poll_interval;
  options.drain_timeout = config.worker.drain_timeout;
  options.retention.policies = config.retention;
  options.patrol.enabled = config.patrol.enabled;
  options.patrol.interval = config.patrol.interval;
  options.patrol.overlooked_after = config.patrol.overlooked_after;
  options.patrol.settled_again = config.patrol.settled_again;
  options.metrics = &metrics_;
  options.on_failed = failure_listener();
  options.notifier = &notifier_;
  options.tracer = parts_.tracer();
  options.broker = {.broker = parts_.broker.get(),
                    .kind = config.relay.kind(),
                    .shards = config.relay.shards,
                    .ack_wait = config.relay.ack_wait,
                    .relay = parts_.broker != nullptr,
                    .relay_workers = config.relay.threads};
  return options;
}

SurfaceParts Daemon::surface_parts(const config::Config& config) {
  http::Context context{parts_.store, parts_.entropy};
  context.generation = parts_.generation;
  context.retention = config.retention;
  context.dead_letters = config.dead_letters;
  context.version = parts_.version;
  context.read_only = config.http.read_only;
  context.edit.enabled = config.edit_replay;
  context.edit.limits.payload_bytes = config.payload_max_bytes;
  context.broker = parts_.broker.get();
  context.relay.stream.replicas = config.relay.replicas;
  context.relay.stream.max_age = config.relay.max_age;
  context.relay.claim_ttl = config.worker.claim_ttl;
  context.sinks = &delivery_;
  context.overview = [this](const ops::ChartWindow& window) { return overview_.json(window, parts_.entropy.clock()); };
  context.metrics = [this](std::string_view accept) { return expose(accept); };
  context.ready = [this] { return ready_.load(); };
  context.trouble = [this] { return delivery_.trouble(); };
  context.wake = [this] { operations_.wake_all(); };
  context.claimable = [this] { notifier_.announce(); };
  context.tracer = parts_.tracer();
  context.trace_url = config.trace_url;
  return {parts_.store, std::move(context), parts_.logger, metrics_, notifier_, parts_.uniform01, failure_listener()};
}

void Daemon::launch(runtime::Service service, runtime::WakeSignal& signal) {
  services_.emplace_back([this, &signal, service = std::move(service)](const std::stop_token& stop) {
    runtime::run_service(stop, service, {signal, parts_.logger, {}});
  });
}

void Daemon::refresh_metrics() {
  metrics_.process.sample();
  if (alerts_) runtime::mirror(metrics_, alerts_->status());
  if (parts_.exporting) {
    metrics_.traces.mirror(parts_.exporting->span_counts());
    metrics_.logs.mirror(parts_.exporting->log_counts());
  }
  std::map<std::string, std::string> states;
  for (const sink::SinkStatus& sink : delivery_.list()) states.emplace(sink.name, name(sink.state));
  metrics_.traffic.show_sinks(states);
}

http::Exposed Daemon::expose(std::string_view accept) {
  refresh_metrics();
  const auto format = telemetry::metrics_format(accept);
  return {std::string{telemetry::content_type(format)}, telemetry::expose(registry_, format)};
}

Result<void> Daemon::reload(const config::Config& config) {
  SLUICE_CHECK(delivery_.reload(config));
  return surface_ ? surface_->reload(config) : Result<void>{};
}

void Daemon::stop() {
  if (stopped_) return;
  stopped_ = true;
  ready_ = false;
  // What is coming in ends first, then what goes out; whoever is owed an answer still gets it.
  if (surface_) surface_->close();
  services_.clear();
  delivery_.stop();
  if (alerts_) alerts_->stop();
  if (surface_) surface_->stop();
  if (parts_.exporting) parts_.exporting->stop();
}

}  // namespace sluice::daemon
