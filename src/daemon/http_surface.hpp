// The HTTP side of the daemon: routes, server and what they work with.
//
// Thread-safety: the owner's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "http/event_stream.hpp"
#include "http/routes.hpp"
#include "http/routes_mcp.hpp"
#include "http/routes_publish.hpp"
#include "http/server.hpp"
#include "http/work_pool.hpp"
#include "ops/publish_queue.hpp"
#include "runtime/notifier.hpp"
#include "runtime/pull_claims.hpp"
#include "runtime/work.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::daemon {

struct SurfaceParts {
  store::Store& store;  ///< for workers that pull
  http::Context context;
  telemetry::Logger logger;
  telemetry::MetricSet& metrics;
  runtime::Notifier& notifier;  ///< outlives it
  std::function<double()> uniform01;
  runtime::FailureListener on_failed;
};

class HttpSurface {
 public:
  /// Listens when it returns. `config.http.listen` is set.
  static Result<std::unique_ptr<HttpSurface>> start(const config::Config& config, SurfaceParts parts);
  ~HttpSurface() { stop(); }
  HttpSurface(const HttpSurface&) = delete;
  HttpSurface& operator=(const HttpSurface&) = delete;

  /// Tokens, hooks, names by which it may be called and what agents may do; the address stays.
  Result<void> reload(const config::Config& config);

  /// Takes nothing new; answers under way are still sent, what was accepted is stored.
  void close();
  void stop();

  /// `http://127.0.0.1:7311/`, with the prefix.
  [[nodiscard]] std::string url() const;

 private:
  HttpSurface(const config::Config& config, SurfaceParts parts);
  [[nodiscard]] ops::PublishQueueOptions queue_options(runtime::Notifier& notifier);
  Result<void> listen(const config::Config& config);
  [[nodiscard]] Result<std::shared_ptr<const http::Application>> application(const config::Config& config);
  void run_streams(const std::stop_token& stop);

  http::Context context_;
  telemetry::Logger logger_;
  telemetry::TrafficMetrics& traffic_;
  runtime::PullPresence presence_;
  runtime::PullSettling settling_;
  runtime::PullClaims pulling_;
  ops::GenerationCheck generations_;
  ops::PublishQueue queue_;
  http::PublishEndpoint publishing_;
  http::McpEndpoint mcp_;
  http::EventStream streams_;
  http::WorkPool pool_;
  std::string url_;
  std::unique_ptr<http::Server> server_;
  std::jthread streamer_;
};

}  // namespace sluice::daemon
