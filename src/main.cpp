// The composition root: the only place that knows every adapter, and the only one that reads the
// environment.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "alert/http/http_channels.hpp"
#include "cli/posix_interruption.hpp"
#include "cli/run.hpp"
#include "library/surroundings.hpp"
#include "ops/operation_runner.hpp"
#include "runtime/alerts.hpp"
#include "runtime/service.hpp"
#include "runtime/supervisor.hpp"
#include "sink/log/log_sink.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "telemetry/fd_writer.hpp"

namespace {

using namespace sluice;

config::Environment environment() {
  config::Environment variables;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string hostname() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<std::unique_ptr<store::Store>> open_store(const cli::OpenRequest& request) {
  if (request.url.kind == config::StoreUrl::Kind::sqlite) {
    store::SqliteOptions options;
    options.path = request.url.location;
    options.create = request.create;
    options.auto_migrate = request.needs_schema;
    return store::open_sqlite(options);
  }
  store::PostgresOptions options;
  options.dsn = request.url.location;
  options.max_connections = request.connections;
  options.check_schema = request.needs_schema;
  options.longest_statement = request.longest_statement;
  return store::open_postgres(options);
}

telemetry::Logger logger(const config::Config& config, Generation generation) {
  telemetry::LogOptions options;
  options.format = telemetry::format_for_fd(STDERR_FILENO);
  if (config.log.format == config::LogFormat::json) options.format = telemetry::LogFormat::json;
  if (config.log.format == config::LogFormat::text) options.format = telemetry::LogFormat::human;
  switch (config.log.level) {
    case config::LogLevel::debug:
      options.minimum = telemetry::Level::debug;
      break;
    case config::LogLevel::info:
      options.minimum = telemetry::Level::info;
      break;
    case config::LogLevel::warn:
      options.minimum = telemetry::Level::warn;
      break;
    case config::LogLevel::error:
      options.minimum = telemetry::Level::error;
      break;
  }
  telemetry::LogContext context{config.service, config.environment, generation, std::nullopt};
  return {telemetry::write_to_fd(STDERR_FILENO), std::move(options), std::move(context)};
}

runtime::SupervisorOptions supervisor_options(const config::Config& config, Generation generation) {
  constexpr int kFirstBatch = 10;
  runtime::SupervisorOptions options;
  options.worker.generation = generation;
  options.worker.identity = library::fresh_identity();
  options.worker.batch_max = config.worker.batch;
  options.worker.batch_min = std::min(kFirstBatch, config.worker.batch);
  options.worker.ttl = config.worker.claim_ttl;
  options.worker.uniform01 = library::uniform01;
  options.workers = config.worker.threads;
  options.listener.poll = config.worker.poll_interval;
  options.listener.safety_poll = config.worker.safety_poll_interval;
  options.drain_timeout = config.worker.drain_timeout;
  options.retention.policies = config.retention;
  // The log sink is for looking on: no event waits for it while it is away.
  options.withdraw = true;
  return options;
}

std::vector<std::unique_ptr<alert::AlertChannel>> alert_channels(const config::Config& config) {
  alert::HttpChannelSettings settings{{}, {}, config.service, config.environment};
  const config::AlertConfig& alerts = config.alerts;
  if (alerts.sentry) settings.sentry = {alerts.sentry->endpoint, alerts.sentry->public_key};
  if (alerts.webhook_url) settings.webhook = {*alerts.webhook_url, alerts.webhook_token};
  return alert::open_http_channels(settings);
}

// None when nobody wants to hear them.
std::unique_ptr<runtime::Alerts> make_alerts(const cli::DaemonRequest& request, const telemetry::Logger& logger) {
  auto channels = alert_channels(request.config);
  if (channels.empty()) return nullptr;
  runtime::AlertsOptions options;
  options.throttle.window = request.config.alerts.window;
  options.random = ops::Entropy::system().random;
  return std::make_unique<runtime::Alerts>(std::move(channels), request.store, logger, std::move(options));
}

// The log sink subscribes to every event, whatever its target.
runtime::RegisteredHandler log_everything(sink::LogSink& sink, const RetryPolicy& retry) {
  const auto deliver = [&sink](std::span<const EventEnvelope> events, const Delivery& delivery) {
    return sink.deliver(events, delivery);
  };
  return {.subscription = {.handler_name = "sluice.log"}, .handler = deliver, .retry = retry};
}

// Bulk replays that an operator started: this process carries them out, or takes over from one that died.
runtime::Service operations_service(ops::OperationRunner& runner) {
  return {"operations", [&runner](const std::stop_token&) { return runner.round(); },
          [&runner] { (void)runner.release_all(); }};
}

class LoggingDaemon final : public cli::Daemon {
 public:
  explicit LoggingDaemon(telemetry::Logger logger) : logger_(std::move(logger)), sink_(logger_) {}

  Result<void> start(const cli::DaemonRequest& request) {
    runtime::HandlerSet handlers;
    if (auto added = handlers.add(log_everything(sink_, request.config.retry)); !added) return added;
    auto options = supervisor_options(request.config, request.generation);
    const std::string identity = options.worker.identity;
    if (alerts_ = make_alerts(request, logger_); alerts_) {
      alerts_->start();
      options.on_failed = [this](FailureNotice notice) { alerts_->offer(std::move(notice)); };
    }
    auto started = runtime::Supervisor::start(request.store, std::move(handlers), logger_, std::move(options));
    if (!started) return std::move(started).error();
    supervisor_ = *std::move(started);
    runner_.emplace(request.store, identity, request.config.operation_lease);
    operations_ = std::jthread{[this](const std::stop_token& stop) {
      runtime::run_service(stop, operations_service(*runner_), {doorbell_, logger_, {}});
    }};
    return {};
  }
  void stop() override {
    operations_ = {};
    supervisor_->request_stop();
    supervisor_->join();
    if (alerts_) alerts_->stop();
  }

 private:
  telemetry::Logger logger_;
  sink::LogSink sink_;
  std::unique_ptr<runtime::Alerts> alerts_;
  std::unique_ptr<runtime::Supervisor> supervisor_;  // its threads use the sink and the alerts
  std::optional<ops::OperationRunner> runner_;
  runtime::Doorbell doorbell_;
  std::jthread operations_;  // last: it uses the runner
};

Result<std::unique_ptr<cli::Daemon>> start_daemon(const cli::DaemonRequest& request) {
  auto daemon = std::make_unique<LoggingDaemon>(logger(request.config, request.generation));
  if (auto started = daemon->start(request); !started) return std::move(started).error();
  return std::unique_ptr<cli::Daemon>{std::move(daemon)};
}

std::vector<store::MigrationText> migrations(config::StoreUrl::Kind kind) {
  return kind == config::StoreUrl::Kind::sqlite ? store::sqlite_migrations() : store::postgres_migrations();
}

}  // namespace

int main(int argc, char** argv) {
  const cli::Invocation invocation{{argv + 1, argv + argc}, environment(), hostname()};
  const bool out_is_tty = ::isatty(STDOUT_FILENO) == 1;
  const bool color = out_is_tty && !invocation.environment.contains("NO_COLOR");
  cli::Console console{
      std::cin, std::cout, std::cerr, ::isatty(STDIN_FILENO) == 1, out_is_tty, color, ::isatty(STDERR_FILENO) == 1};
  const cli::Adapters adapters{
      open_store,    start_daemon, migrations, std::make_shared<cli::PosixInterruption>(), ops::Entropy::system(),
      alert_channels};
  return static_cast<int>(cli::run(invocation, console, adapters));
}
