#include "daemon/http_surface.hpp"

#include <chrono>
#include <condition_variable>
#include <utility>

#include "core/try.hpp"
#include "crypto/digest.hpp"
#include "daemon/delivery.hpp"
#include "http/api.hpp"

namespace sluice::daemon {
namespace {

// Each may wait for the store; what comes in by POST /v1/events does not pass here.
constexpr int kPoolThreads = 4;
constexpr std::size_t kMostWaiting = 256;

http::PublishEndpointOptions publish_options(const config::Config& config, const SurfaceParts& parts,
                                             http::RunElsewhere elsewhere) {
  EnvelopeLimits limits;
  limits.payload_bytes = config.payload_max_bytes;
  return {parts.context.entropy,
          limits,
          parts.context.generation,
          parts.logger,
          [&traffic = parts.metrics.traffic](std::string_view outcome, std::size_t events) {
            traffic.published.with({"http", std::string{outcome}}).add(events);
          },
          std::move(elsewhere),
          parts.context.tracer};
}

runtime::PullSettlingOptions settling_options(const config::Config& config, const SurfaceParts& parts) {
  return {[retry = config.retry](const std::string&) { return retry; },
          parts.uniform01,
          parts.on_failed,
          &parts.metrics,
          config.worker.record_successes,
          parts.context.claimable,
          parts.context.tracer};
}

runtime::PullClaimsOptions pull_options(const config::Config& config, Generation generation,
                                        const SurfaceParts& parts) {
  runtime::PullClaimsOptions options;
  options.generation = generation;
  options.poll = config.worker.poll_interval;
  options.metrics = &parts.metrics;
  options.notifier = &parts.notifier;
  options.tracer = parts.context.tracer;
  return options;
}

http::McpOptions mcp_options(const config::Config& config) {
  return {{config.http.read_only, config.mcp.max_rows, config.mcp.max_rate}, config.mcp.window, config.redaction};
}

// What this process delivers itself.
std::set<std::string, std::less<>> own_handlers(const config::Config& config) {
  std::set<std::string, std::less<>> names{std::string{kLogHandler}};
  for (const auto& subscription : config.declared.subscriptions) names.insert(subscription.handler_name);
  return names;
}

Result<http::Token> token_of(const config::TokenConfig& declared) {
  const auto role = http::role_of(declared.role);
  const auto bytes = crypto::from_hex(declared.sha256);
  http::Token token{declared.name, role.value_or(http::Role::viewer), {}};
  if (!role || !bytes || bytes->size() != token.digest.size()) {
    return invalid("tokens." + declared.name, declared.where + ": the token " + declared.name + " cannot be used");
  }
  std::copy(bytes->begin(), bytes->end(), token.digest.begin());
  return token;
}

Result<http::AccessRules> rules_of(const config::Config& config) {
  http::AccessRules rules;
  for (const auto& declared : config.declared.tokens) {
    SLUICE_TRY(auto token, token_of(declared));
    rules.tokens.push_back(std::move(token));
  }
  rules.own_name = config.actor;
  rules.loopback = http::is_loopback(config.http.listen->host);
  rules.hosts = config.http.hosts;
  rules.read_only = config.http.read_only;
  SLUICE_CHECK(http::check_rules(rules));
  return rules;
}

std::string_view hook_outcome(int status) {
  if (status == 202) return "stored";
  if (status == 200) return "duplicate";
  return status < 500 ? "refused" : "error";
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

HttpSurface::HttpSurface(const config::Config& config, SurfaceParts parts)
    : context_(parts.context),
      logger_(parts.logger),
      traffic_(parts.metrics.traffic),
      presence_(parts.store, context_.generation),
      settling_(parts.store, presence_, logger_, settling_options(config, parts)),
      pulling_(parts.store, settling_, presence_, pull_options(config, context_.generation, parts)),
      generations_(context_.store),
      queue_(context_.store, queue_options(parts.notifier)),
      publishing_(
          queue_, context_.store,
          publish_options(config, parts, [this](std::function<void()> work) { return pool_.run(std::move(work)); })),
      mcp_(context_, mcp_options(config)),
      streams_(context_),
      pool_(kPoolThreads, kMostWaiting) {}

ops::PublishQueueOptions HttpSurface::queue_options(runtime::Notifier& notifier) {
  ops::PublishQueueOptions options;
  options.storing = [&notifier](std::span<const store::NewEvent> events) { notifier.storing(events); };
  options.stored = [&notifier](std::span<const store::NewEvent> events, bool may_be_there) {
    may_be_there ? notifier.stored(events) : notifier.not_stored(events);
  };
  options.check = [this](const store::NewEvent& event) {
    // Our own workers are there, or will be in a moment.
    return event.generation == context_.generation ? Result<void>{} : generations_(event);
  };
  return options;
}

Result<std::unique_ptr<HttpSurface>> HttpSurface::start(const config::Config& config, SurfaceParts parts) {
  std::unique_ptr<HttpSurface> surface{new HttpSurface{config, std::move(parts)}};
  SLUICE_CHECK(surface->listen(config));
  return surface;
}

Result<void> HttpSurface::listen(const config::Config& config) {
  SLUICE_TRY(auto app, application(config));
  http::ServerOptions options;
  options.host = config.http.listen->host;
  options.port = static_cast<std::uint16_t>(config.http.listen->port);
  options.max_connections = static_cast<std::size_t>(config.http.max_connections);
  options.max_body_bytes = config.http.max_body;
  queue_.start();
  pulling_.start();
  SLUICE_TRY(server_, http::Server::start(options, std::move(app)));
  url_ = "http://" + config::ListenAddress{options.host, server_->port()}.display() + config.http.prefix + '/';
  streamer_ = std::jthread{[this](const std::stop_token& stop) { run_streams(stop); }};
  return {};
}

Result<std::shared_ptr<const http::Application>> HttpSurface::application(const config::Config& config) {
  SLUICE_TRY(auto rules, rules_of(config));
  pulling_.reserve(own_handlers(config));
  http::Router router =
      http::api_router({context_, publishing_, mcp_, streams_, {pulling_, settling_}},
                       {config.declared.hooks, config.http.prefix, [this](const std::string& source, int status) {
                          traffic_.inbox.with({source, std::string{hook_outcome(status)}}).add();
                        }});
  http::ApplicationOptions options{config.http.prefix,
                                   [this](std::function<void()> work) { return pool_.run(std::move(work)); },
                                   [this](const http::Served& served) {
                                     traffic_.http_served(served.method, served.pattern, served.status, served.seconds);
                                   },
                                   steady_seconds};
  return std::shared_ptr<const http::Application>{
      std::make_shared<http::Application>(std::move(router), http::Access{std::move(rules)}, std::move(options))};
}

Result<void> HttpSurface::reload(const config::Config& config) {
  SLUICE_TRY(auto app, application(config));
  server_->replace(std::move(app));
  mcp_.configure(mcp_options(config));
  return {};
}

void HttpSurface::run_streams(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  while (!stop.stop_requested()) {
    const Duration rest = streams_.step(context_.entropy.clock());
    never.wait_for(lock, stop, rest, [] { return false; });
  }
  streams_.close();
}

void HttpSurface::close() {
  if (server_) server_->close();
  streamer_ = {};
  pulling_.stop();
  queue_.stop();
  pool_.stop();
}

void HttpSurface::stop() {
  close();
  if (server_) server_->stop();
}

std::string HttpSurface::url() const { return url_; }

}  // namespace sluice::daemon
