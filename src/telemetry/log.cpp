#include "telemetry/log.hpp"

#include <chrono>
#include <mutex>

#include "core/generation.hpp"
#include "telemetry/log_format.hpp"

namespace sluice::telemetry {

struct Logger::Output {
  LogWriter writer;
  LogOptions options;
  std::mutex mutex;
};

namespace {

Timestamp system_now() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

std::span<const LogField> as_span(std::initializer_list<LogField> fields) { return {fields.begin(), fields.size()}; }

}  // namespace

Logger::Logger(LogWriter writer, LogOptions options, LogContext context)
    : output_(std::make_shared<Output>()), context_(std::move(context)) {
  output_->writer = std::move(writer);
  output_->options = std::move(options);
  if (!output_->options.clock) output_->options.clock = system_now;
}

bool Logger::enabled(Level level) const { return output_ && level >= output_->options.minimum; }

void Logger::log(Level level, std::string_view message, std::span<const LogField> fields) const {
  if (!enabled(level)) return;
  const LogRecord record{output_->options.clock(), level, message, context_, fields};
  const std::string line = output_->options.format == LogFormat::json ? format_json(record) : format_human(record);
  const std::lock_guard lock{output_->mutex};
  output_->writer(line);
}

void Logger::debug(std::string_view message, std::initializer_list<LogField> fields) const {
  log(Level::debug, message, as_span(fields));
}

void Logger::info(std::string_view message, std::initializer_list<LogField> fields) const {
  log(Level::info, message, as_span(fields));
}

void Logger::warn(std::string_view message, std::initializer_list<LogField> fields) const {
  log(Level::warn, message, as_span(fields));
}

void Logger::error(std::string_view message, std::initializer_list<LogField> fields) const {
  log(Level::error, message, as_span(fields));
}

Logger Logger::with_generation(std::int64_t generation) const {
  Logger other = *this;
  other.context_.generation = generation;
  return other;
}

Logger Logger::with_trace_context(const std::optional<std::string>& traceparent) const {
  Logger other = *this;
  other.context_.trace_id.reset();
  if (traceparent && check_trace_context(*traceparent)) other.context_.trace_id = traceparent->substr(3, 32);
  return other;
}

}  // namespace sluice::telemetry
