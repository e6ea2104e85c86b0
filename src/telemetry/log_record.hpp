// What one log line says, before it has a form.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <sluice/time.hpp>

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
  std::optional<std::string> trace_id;  ///< 32 hex characters
};

struct LogRecord {
  Timestamp timestamp{};
  Level level = Level::info;
  std::string_view message;
  const LogContext& context;
  std::span<const LogField> fields;
};

}  // namespace sluice::telemetry
