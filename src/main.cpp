// The composition root: the only place that knows every adapter, and the only one that reads the
// environment.
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "alert/http/http_channels.hpp"
#include "broker/open_broker.hpp"
#include "cli/posix_interruption.hpp"
#include "cli/run.hpp"
#include "core/try.hpp"
#include "daemon/daemon.hpp"
#include "host/entropy.hpp"
#include "host/identity.hpp"
#include "otlp/otlp.hpp"
#include "sink/open_sinks.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "telemetry/log.hpp"

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

Result<std::unique_ptr<store::Store>> open_adapter(const cli::OpenRequest& request) {
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

Result<std::unique_ptr<store::Administering>> open_store(const cli::OpenRequest& request) {
  SLUICE_TRY(auto store, open_adapter(request));
  return std::unique_ptr<store::Administering>{std::move(store)};
}

Result<cli::WholeStore> open_whole(const cli::OpenRequest& request) {
  SLUICE_TRY(std::shared_ptr<store::Store> store, open_adapter(request));
  return cli::WholeStore{store, *store};
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

std::vector<std::unique_ptr<alert::AlertChannel>> alert_channels(const config::Config& config) {
  alert::HttpChannelSettings settings{{}, {}, config.service, config.environment};
  const config::AlertConfig& alerts = config.alerts;
  if (alerts.sentry) settings.sentry = {alerts.sentry->endpoint, alerts.sentry->public_key};
  if (alerts.webhook_url) settings.webhook = {*alerts.webhook_url, alerts.webhook_token};
  return alert::open_http_channels(settings);
}

// None where none is configured; does not connect.
Result<std::unique_ptr<broker::Broker>> open_broker(const config::Config& config) {
  const config::RelayConfig& relay = config.relay;
  if (relay.urls.empty()) return std::unique_ptr<broker::Broker>{};
  broker::BrokerOptions options;
  options.urls = relay.urls;
  options.user = relay.user;
  options.password = relay.password;
  options.token = relay.token;
  options.credentials_file = relay.credentials;
  options.tls_ca = relay.tls_ca;
  options.tls_cert = relay.tls_cert;
  options.tls_key = relay.tls_key;
  options.tls_server_name = relay.tls_server_name;
  options.prefix = relay.stream;
  return broker::open_broker(std::move(options));
}

otlp::OtlpOptions otlp_options(const config::Config& config) {
  const config::OtelConfig& otel = config.otel;
  otlp::OtlpOptions options;
  options.traces_url = otel.traces_url();
  options.metrics_url = otel.metrics_url();
  options.logs_url = otel.logs_url();
  for (const auto& [name, value] : otel.headers) options.headers.push_back(name + ": " + value);
  options.timeout = otel.timeout;
  options.gzip = otel.compression == config::OtelConfig::Compression::gzip;
  options.sender.version = SLUICE_VERSION;
  options.sender.resource = {{"service.name", otel.service_name.empty() ? config.service : otel.service_name},
                             {"service.version", SLUICE_VERSION},
                             {"host.name", host::host_name()}};
  for (const auto& attribute : otel.resource) options.sender.resource.push_back(attribute);
  options.sampler = {otel.samples_by_parent(), otel.sample_ratio()};
  options.metric_interval = otel.metric_interval;
  return options;
}

// None where no collector is configured. `log` has no tap: what it says of the collector does not go there.
std::shared_ptr<telemetry::Exporting> open_exporting(otlp::OtlpOptions options, const telemetry::Logger& log) {
  if (options.traces_url.empty() && options.metrics_url.empty() && options.logs_url.empty()) return nullptr;
  return otlp::open_otlp(std::move(options), log);
}

// Of a command: what it says is for the terminal that it runs in.
std::shared_ptr<telemetry::Exporting> open_command_exporting(const config::Config& config) {
  otlp::OtlpOptions options = otlp_options(config);
  options.logs_url.clear();
  return open_exporting(std::move(options), logger(config, kFirstGeneration));
}

class ServingDaemon final : public cli::Daemon {
 public:
  explicit ServingDaemon(std::unique_ptr<daemon::Daemon> daemon) : daemon_(std::move(daemon)) {}
  [[nodiscard]] std::string url() const override { return daemon_->url(); }
  Result<void> reload(const config::Config& config) override { return daemon_->reload(config); }
  void stop() override { daemon_->stop(); }

 private:
  std::unique_ptr<daemon::Daemon> daemon_;
};

Result<std::unique_ptr<cli::Daemon>> start_daemon(const cli::DaemonRequest& request) {
  const telemetry::Logger own = logger(request.config, request.generation);
  const auto exporting = open_exporting(otlp_options(request.config), own);
  const telemetry::Logger log = exporting ? own.with_tap(exporting->log_tap()) : own;
  daemon::DaemonParts parts{request.store,
                            request.generation,
                            log,
                            host::Entropy::system(),
                            host::fresh_identity,
                            SLUICE_VERSION,
                            host::uniform01,
                            host::process_is_gone,
                            [log, exporting](const config::Config& config, const std::function<Timestamp()>& clock) {
                              return sink::open_sinks(config, log, clock, exporting ? exporting->tracer() : nullptr);
                            },
                            {},
                            alert_channels(request.config),
                            exporting};
  SLUICE_TRY(parts.broker, open_broker(request.config));
  auto daemon = daemon::Daemon::start(request.config, std::move(parts));
  if (!daemon) return std::move(daemon).error();
  return std::unique_ptr<cli::Daemon>{std::make_unique<ServingDaemon>(*std::move(daemon))};
}

Result<ops::Trial> try_sink(const config::Config& config, const std::string& name, const EventEnvelope& event) {
  auto tried = sink::probe_declared(config, logger(config, kFirstGeneration), name, event);
  if (!tried) return std::move(tried).error();
  return ops::Trial{tried->ok, std::move(tried->status), std::move(tried->detail), tried->took};
}

std::vector<store::MigrationText> migrations(config::StoreUrl::Kind kind) {
  return kind == config::StoreUrl::Kind::sqlite ? store::sqlite_migrations() : store::postgres_migrations();
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const cli::Invocation invocation{{argv + 1, argv + argc}, environment(), host::host_name(), host::user_name()};
  const bool out_is_tty = ::isatty(STDOUT_FILENO) == 1;
  const bool color = out_is_tty && !invocation.environment.contains("NO_COLOR");
  cli::Console console{std::cin,
                       std::cout,
                       std::cerr,
                       ::isatty(STDIN_FILENO) == 1,
                       out_is_tty,
                       color,
                       ::isatty(STDERR_FILENO) == 1,
                       out_is_tty ? terminal_width() : 0};
  const cli::Adapters adapters{open_store,
                               open_whole,
                               start_daemon,
                               migrations,
                               std::make_shared<cli::PosixInterruption>(),
                               host::Entropy::system(),
                               alert_channels,
                               try_sink,
                               open_broker,
                               open_command_exporting};
  return static_cast<int>(cli::run(invocation, console, adapters));
}
