// The configuration as one immutable value. It is made once, at start-up, and passed on as const.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>
#include "config/addresses.hpp"
#include "config/declared.hpp"
#include "config/store_url.hpp"
#include "core/dead_letter_levels.hpp"
#include "core/generation.hpp"
#include "core/redact.hpp"
#include "core/retention.hpp"

namespace sluice::config {

enum class LogLevel { debug, info, warn, error };
/// `automatic`: text on a terminal, JSON otherwise.
enum class LogFormat { automatic, json, text };

struct WorkerConfig {
  int batch = 0;  ///< the most events claimed at once
  Duration claim_ttl{};
  Duration poll_interval{};         ///< between looks while nothing can be heard
  Duration safety_poll_interval{};  ///< between looks while the listener hears
  Duration drain_timeout{};
  int threads = 0;      ///< of each sink
  int connections = 0;  ///< of all workers to PostgreSQL, at most
  bool record_successes = false;
};

/// Looking for events that no claim would ever find.
struct PatrolConfig {
  bool enabled = true;
  Duration interval{};
  Duration overlooked_after{};
  Duration settled_again{};
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::automatic;
};

struct AlertConfig {
  std::optional<SentryDsn> sentry;
  std::optional<std::string> webhook_url;
  std::string webhook_token;  ///< empty: none
  Duration window{};          ///< at most one alert per fingerprint in this time
};

struct HttpConfig {
  std::optional<ListenAddress> listen;  ///< none: no server
  std::string prefix;                   ///< `/ops/sluice`, without a slash at the end; empty: the root
  std::vector<std::string> hosts;       ///< names by which it may be called, beside the address and localhost
  std::size_t max_body = 0;             ///< bytes
  int max_connections = 0;
  bool read_only = false;  ///< nobody changes anything through it
};

/// The broker that carries deliveries while `sluice ladder relay` has turned it on.
struct RelayConfig {
  std::vector<std::string> urls;  ///< of one kind; empty: no broker
  std::string user;
  std::string password;
  std::string token;
  std::string credentials;  ///< a file; NATS
  std::string tls_ca;       ///< files
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;  ///< that the broker's certificate must have; empty: that of the URL
  std::string stream;           ///< prefix of subjects or keys
  int replicas = 0;
  int shards = 0;
  Duration ack_wait{};
  Duration max_age{};
  int threads = 0;

  /// `nats` or `redis`, by the scheme of the first URL; empty without one.
  [[nodiscard]] std::string kind() const {
    if (urls.empty()) return {};
    return urls.front().starts_with("redis") ? "redis" : "nats";
  }
};

/// How much agents may change.
struct McpConfig {
  int max_rows = 0;
  int max_rate = 0;
  Duration window{};
};

/// Where traces, metrics and the log go, in the terms of OpenTelemetry's own variables.
struct OtelConfig {
  enum class Exporter { otlp, none };
  enum class LogExporter { automatic, otlp, none };  ///< automatic: with an endpoint of its own
  enum class Compression { none, gzip };
  enum class Protocol { http_json, http_protobuf, grpc };
  enum class Sampler {
    parentbased_always_on,
    parentbased_traceidratio,
    parentbased_always_off,
    always_on,
    traceidratio,
    always_off,
  };
  bool disabled = false;
  Exporter traces = Exporter::otlp;
  Exporter metrics = Exporter::otlp;
  LogExporter logs = LogExporter::automatic;
  std::string endpoint;  ///< without a slash at the end; empty: none
  std::string traces_endpoint;
  std::string metrics_endpoint;
  std::string logs_endpoint;
  std::vector<std::pair<std::string, std::string>> headers;
  Protocol protocol = Protocol::http_json;
  Compression compression = Compression::none;
  Duration timeout{};
  Sampler sampler = Sampler::parentbased_always_on;
  double sampler_arg = 1;
  std::string service_name;  ///< empty: the service
  std::vector<std::pair<std::string, std::string>> resource;
  Duration metric_interval{};

  /// Empty: none are sent.
  [[nodiscard]] std::string traces_url() const;
  [[nodiscard]] std::string metrics_url() const;
  [[nodiscard]] std::string logs_url() const;
  [[nodiscard]] bool samples_by_parent() const;
  [[nodiscard]] double sample_ratio() const;
};

/// Every default stands in the key table, so that `config explain` shows what is really used.
struct Config {
  StoreUrl store;
  std::optional<Generation> generation;  ///< none: the newest live one, else 1
  std::string actor;                     ///< who the audit names
  WorkerConfig worker;
  std::size_t payload_max_bytes = 0;
  RetryPolicy retry = RetryPolicy::standard();
  RetryPolicy inbox_retry = RetryPolicy::inbox();
  RetentionPolicies retention;
  PatrolConfig patrol;
  DeadLetterLevels dead_letters;
  AlertConfig alerts;
  Duration operation_lease{};  ///< a bulk replay is taken over from a process that was silent for this long
  RedactionPolicy redaction;   ///< of payloads that are exported or shown to agents
  LogConfig log;
  std::string service;
  std::string environment;
  HttpConfig http;
  McpConfig mcp;
  RelayConfig relay;
  OtelConfig otel;
  std::string trace_url;      ///< with `{trace_id}` in it; empty: none
  bool exec_enabled = false;  ///< whether sinks may run programs
  bool edit_replay = false;   ///< whether a dead letter may be replayed with another payload
  /// Under which name the daemon declares subscriptions: its service, else its host, and the file. Whoever starts under
  /// the same name later withdraws those that are gone from the file.
  std::string declarer;
  Declarations declared;  ///< the tables of the file
};

struct Settings;
struct Sources;

/// Parses the winners and the tables, and checks what spans several keys: retry bounds, the retention inequality, the
/// sinks that subscriptions name.
Result<Config> resolve(const Settings& settings);

/// gather, then resolve.
Result<Config> load(const Sources& sources);

}  // namespace sluice::config
