// The configuration as one immutable value. It is made once, at start-up, and passed on as const.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>
#include "config/store_url.hpp"
#include "core/generation.hpp"
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
  int threads = 0;
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::automatic;
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
  LogConfig log;
  std::string service;
  std::string environment;
};

struct Settings;
struct Sources;

/// Parses the winners and checks what spans several keys: retry bounds and the retention inequality.
Result<Config> resolve(const Settings& settings);

/// gather, then resolve.
Result<Config> load(const Sources& sources);

}  // namespace sluice::config
