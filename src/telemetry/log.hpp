// Logger: structured lines, one per call. A value that is passed to whoever logs; there is no global.
//
// Thread-safety: copies share one output, and their lines never interleave.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <sluice/time.hpp>

namespace sluice {
class EventEnvelope;
}  // namespace sluice

namespace sluice::telemetry {

enum class Level { debug, info, warn, error };

/// `debug`, `info`, `warn`, `error`.
std::string_view name(Level level);
std::optional<Level> parse_level(std::string_view text);

/// A key and its value. The key is a literal or outlives the call.
struct LogField {
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

  LogField(std::string_view field_key, std::string text) : key(field_key), value(std::move(text)) {}
  LogField(std::string_view field_key, std::string_view text) : key(field_key), value(std::string{text}) {}
  LogField(std::string_view field_key, const char* text) : key(field_key), value(std::string{text}) {}
  LogField(std::string_view field_key, const std::optional<std::string>& text) : key(field_key) {
    if (text) value = *text;
  }
  LogField(std::string_view field_key, bool truth) : key(field_key), value(truth) {}
  LogField(std::string_view field_key, double number) : key(field_key), value(number) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) LogField(std::string_view field_key, Integer number)
      : key(field_key), value(static_cast<std::int64_t>(number)) {}

  std::string_view key;
  Value value;  ///< monostate: null
};

/// The fields that every line carries.
struct LogContext {
  std::string service = "sluice";
  std::string environment = "development";
  std::optional<std::int64_t> generation;
  std::optional<std::string> trace_id;   ///< 32 hex characters
  std::optional<std::string> span_id{};  ///< 16, while a span is current
};

struct LogRecord {
  Timestamp timestamp{};
  Level level = Level::info;
  std::string_view message;
  const LogContext& context;
  std::span<const LogField> fields;
};

/// One JSON object and a line feed: timestamp, level, message, service, environment, generation,
/// trace_id, span_id while a span is current, then the record's own fields. What is not known is null. No byte of any
/// value can end the line or leave its string.
std::string format_json(const LogRecord& record);

/// `01:43:02.123 INFO  message  key=value key="two words"` and a line feed, for a person at a
/// terminal. The context is left out, null fields too; control characters are escaped.
std::string format_human(const LogRecord& record);

enum class LogFormat { json, human };

/// Takes one whole line with its line feed. Called by one thread at a time.
using LogWriter = std::function<void(std::string_view line)>;

/// Gets every record beside the writer, on the thread that logs: it must not wait, and it must not log. Called by any
/// number of threads at once.
using LogTap = std::function<void(const LogRecord& record)>;

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
  /// The same for a span that is current: its id, too.
  [[nodiscard]] Logger with_span(std::string_view traceparent) const;
  /// The same output, and the tap; none: the output alone.
  [[nodiscard]] Logger with_tap(std::shared_ptr<const LogTap> tap) const;

 private:
  struct Output;
  std::shared_ptr<Output> output_;
  std::shared_ptr<const LogTap> tap_;
  LogContext context_;
};

/// Writes each line with as few calls as the kernel allows. A descriptor that cannot take it (closed
/// pipe, full disk) loses the line: logging never stops delivery. Does not own the descriptor.
LogWriter write_to_fd(int fd);

/// The human form for a terminal, JSON for everything else.
LogFormat format_for_fd(int fd);

/// The one line that a publish leaves in the log, whoever publishes. `fresh`: false when the same id had been published
/// before. `span` is the traceparent of the publish; empty: none.
void log_published(const Logger& logger, const EventEnvelope& event, bool fresh, std::string_view span = {});

}  // namespace sluice::telemetry
