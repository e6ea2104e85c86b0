#include "telemetry/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <mutex>

#include <sluice/envelope.hpp>
#include "core/json.hpp"
#include "core/trace_context.hpp"
#include "host/entropy.hpp"

namespace sluice::telemetry {
namespace {

constexpr std::array kLevels{Level::debug, Level::info, Level::warn, Level::error};

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

struct AppendJson {
  std::string& out;
  void operator()(std::monostate) const { out += "null"; }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(std::int64_t number) const { append_number(out, number); }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_number(out, number);
    } else {
      out += "null";  // JSON has no word for it
    }
  }
  void operator()(const std::string& text) const { json::append_quoted(out, text); }
};

void append_member(std::string& out, std::string_view key, const LogField::Value& value) {
  out += out.empty() ? '{' : ',';
  json::append_quoted(out, key);
  out += ':';
  std::visit(AppendJson{out}, value);
}

template <class T>
LogField::Value value_or_null(const std::optional<T>& value) {
  if (value) return *value;
  return std::monostate{};
}

bool is_plain(std::string_view text) {
  const auto plain = [](char c) { return c > ' ' && c < 0x7F && c != '"' && c != '\\' && c != '='; };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

// The message is read as prose: escaped like a JSON string, but without the quotes around it.
void append_prose(std::string& out, std::string_view text) {
  const std::string quoted = json::quote(text);
  out.append(quoted, 1, quoted.size() - 2);
}

}  // namespace

std::string_view name(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warn:
      return "warn";
    case Level::error:
      return "error";
  }
  return "info";
}

std::optional<Level> parse_level(std::string_view text) {
  for (const Level level : kLevels) {
    if (name(level) == text) return level;
  }
  return std::nullopt;
}

std::string format_json(const LogRecord& record) {
  std::string line;
  line.reserve(512);
  append_member(line, "timestamp", to_iso8601(record.timestamp));
  append_member(line, "level", std::string{name(record.level)});
  append_member(line, "message", std::string{record.message});
  append_member(line, "service", record.context.service);
  append_member(line, "environment", record.context.environment);
  append_member(line, "generation", value_or_null(record.context.generation));
  append_member(line, "trace_id", value_or_null(record.context.trace_id));
  if (record.context.span_id) append_member(line, "span_id", *record.context.span_id);
  for (const LogField& field : record.fields) append_member(line, field.key, field.value);
  return line += "}\n";
}

std::string format_human(const LogRecord& record) {
  constexpr std::array<std::string_view, 4> labels{"DEBUG", "INFO ", "WARN ", "ERROR"};
  std::string line = to_iso8601(record.timestamp).substr(11, 12);
  line.append(" ").append(labels[static_cast<std::size_t>(record.level)]).append(" ");
  append_prose(line, record.message);
  line += ' ';
  for (const LogField& field : record.fields) {
    if (std::holds_alternative<std::monostate>(field.value)) continue;
    line.append(" ").append(field.key).append("=");
    const auto* text = std::get_if<std::string>(&field.value);
    if (text != nullptr && is_plain(*text)) {
      line += *text;
    } else {
      std::visit(AppendJson{line}, field.value);
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line += '\n';
}

struct Logger::Output {
  LogWriter writer;
  LogOptions options;
  std::mutex mutex;
};

namespace {

std::span<const LogField> as_span(std::initializer_list<LogField> fields) { return {fields.begin(), fields.size()}; }

}  // namespace

Logger::Logger(LogWriter writer, LogOptions options, LogContext context)
    : output_(std::make_shared<Output>()), context_(std::move(context)) {
  output_->writer = std::move(writer);
  output_->options = std::move(options);
  if (!output_->options.clock) output_->options.clock = host::wall_clock;
}

bool Logger::enabled(Level level) const { return output_ && level >= output_->options.minimum; }

void Logger::log(Level level, std::string_view message, std::span<const LogField> fields) const {
  if (!enabled(level)) return;
  const LogRecord record{output_->options.clock(), level, message, context_, fields};
  const std::string line = output_->options.format == LogFormat::json ? format_json(record) : format_human(record);
  if (tap_) (*tap_)(record);
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
  const auto context = traceparent ? parse_traceparent(*traceparent) : std::nullopt;
  other.context_.trace_id = context ? std::optional{context->trace_id()} : std::nullopt;
  other.context_.span_id.reset();
  return other;
}

Logger Logger::with_span(std::string_view traceparent) const {
  Logger other = *this;
  const auto context = parse_traceparent(traceparent);
  other.context_.trace_id = context ? std::optional{context->trace_id()} : std::nullopt;
  other.context_.span_id = context ? std::optional{context->span_id_text()} : std::nullopt;
  return other;
}

Logger Logger::with_tap(std::shared_ptr<const LogTap> tap) const {
  Logger other = *this;
  other.tap_ = std::move(tap);
  return other;
}

LogWriter write_to_fd(int fd) {
  return [fd](std::string_view line) {
    while (!line.empty()) {
      const ssize_t written = ::write(fd, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      line.remove_prefix(static_cast<std::size_t>(written));
    }
  };
}

LogFormat format_for_fd(int fd) { return ::isatty(fd) == 1 ? LogFormat::human : LogFormat::json; }

void log_published(const Logger& logger, const EventEnvelope& event, bool fresh, std::string_view span) {
  const auto& workspace = event.workspace_id();
  (span.empty() ? logger.with_trace_context(event.trace_context()) : logger.with_span(span))
      .info(fresh ? "event published" : "event was published before",
            {{"event_id", event.event_id().to_string()},
             {"event_type", event.event_type()},
             {"source", event.source()},
             {"target", event.target()},
             {"workspace_id", workspace ? std::optional{workspace->to_string()} : std::nullopt}});
}

}  // namespace sluice::telemetry
