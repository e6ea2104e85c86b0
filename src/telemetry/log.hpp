// Logger: structured lines, one per call. A value that is passed to whoever logs; there is no global.
//
// Thread-safety: copies share one output, and their lines never interleave.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "telemetry/log_record.hpp"

namespace sluice::telemetry {

enum class LogFormat { json, human };

/// Takes one whole line with its line feed. Called by one thread at a time.
using LogWriter = std::function<void(std::string_view line)>;

struct LogOptions {
  LogFormat format = LogFormat::json;
  Level minimum = Level::info;       ///< lines below it are dropped
  std::function<Timestamp()> clock;  ///< for the timestamps; default: the system's
};

class Logger {
 public:
  /// Drops every line.
  Logger() = default;
  Logger(LogWriter writer, LogOptions options, LogContext context = {});

  [[nodiscard]] bool enabled(Level level) const;

  void log(Level level, std::string_view message, std::span<const LogField> fields) const;
  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const;

  /// The same output with another context.
  [[nodiscard]] Logger with_generation(std::int64_t generation) const;
  /// Takes the trace id out of a W3C traceparent; none or a malformed one leaves it null.
  [[nodiscard]] Logger with_trace_context(const std::optional<std::string>& traceparent) const;

 private:
  struct Output;
  std::shared_ptr<Output> output_;
  LogContext context_;
};

}  // namespace sluice::telemetry
