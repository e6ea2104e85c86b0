#include "core/generation.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/characters.hpp"

namespace sluice {

namespace {

constexpr std::size_t kContextMaxBytes = 63;
constexpr std::size_t kNameMaxBytes = 255;

constexpr std::array kGenerationStates{GenerationState::allocated, GenerationState::live, GenerationState::draining,
                                       GenerationState::retired};

bool is_identifier_char(char c) { return is_lower(c) || is_digit(c) || c == '_'; }
bool is_type_char(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }

bool all_of(std::string_view text, bool (*test)(char)) { return std::all_of(text.begin(), text.end(), test); }

bool is_context(std::string_view text) {
  return !text.empty() && is_lower(text.front()) && all_of(text, is_identifier_char);
}

bool is_type_segment(std::string_view text) { return !text.empty() && all_of(text, is_type_char); }

// Checks every dot-separated segment and returns how many there are; 0 when one is bad.
std::size_t count_segments(std::string_view text, bool (*is_segment)(std::string_view)) {
  std::size_t count = 0;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_segment(text.substr(0, dot))) return 0;
    ++count;
    if (dot == std::string_view::npos) return count;
    text.remove_prefix(dot + 1);
  }
}

Error refuse(std::string_view field, std::string_view expectation) {
  std::string message{field};
  message.append(" ").append(expectation);
  return invalid(std::string{field}, std::move(message));
}

// Takes `count` lower-case hex digits off the front; empty when they are not there.
std::string_view take_hex(std::string_view& rest, std::size_t count) {
  const std::string_view digits = rest.substr(0, count);
  if (digits.size() != count || !all_of(digits, is_lower_hex)) return {};
  rest.remove_prefix(count);
  return digits;
}

bool take(std::string_view& rest, std::string_view expected) {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(expected.size());
  return true;
}

bool all_zero(std::string_view hex) { return hex.find_first_not_of('0') == std::string_view::npos; }

}  // namespace

std::string_view name(GenerationState state) {
  switch (state) {
    case GenerationState::allocated:
      return "allocated";
    case GenerationState::live:
      return "live";
    case GenerationState::draining:
      return "draining";
    case GenerationState::retired:
      return "retired";
  }
  return "allocated";
}

std::optional<GenerationState> parse_generation_state(std::string_view text) {
  for (const GenerationState state : kGenerationStates) {
    if (name(state) == text) return state;
  }
  return std::nullopt;
}

bool is_legal(GenerationState from, GenerationState to) {
  switch (from) {
    case GenerationState::allocated:
      return to == GenerationState::live;
    case GenerationState::live:
      return to == GenerationState::draining;
    case GenerationState::draining:
      return to == GenerationState::retired || to == GenerationState::live;
    case GenerationState::retired:
      return false;
  }
  return false;
}

Result<Generation> parse_generation(std::string_view text, std::string_view field) {
  Generation generation = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), generation);
  if (status != std::errc{} || end != text.data() + text.size() || generation < kFirstGeneration) {
    return refuse(field, "must be a whole number of at least 1");
  }
  return generation;
}

Error no_such_generation(Generation generation) {
  const std::string number = std::to_string(generation);
  Error error =
      invalid("generation", "generation " + number + " does not exist, and nobody would ever claim its events");
  error.hint = "allocate it with `sluice generation allocate " + number + "`, or leave generation out";
  return error;
}

Error retired_generation(Generation generation) {
  return {ErrorCode::conflict,
          Retry::never,
          "generation " + std::to_string(generation) +
              " is retired, and nobody would claim its events: name a live one, or make one live",
          "generation",
          {}};
}

Result<std::string> compose_channel(Generation generation, std::string_view processing_class) {
  if (generation < kFirstGeneration) return refuse("generation", "must be a whole number of at least 1");
  std::string channel = "outbox_gen_" + std::to_string(generation);
  if (processing_class.empty()) return channel;
  if (!all_of(processing_class, is_identifier_char)) {
    return refuse("processing_class", "must contain only lower-case letters, digits and underscores");
  }
  channel.append("_").append(processing_class);
  if (channel.size() > kChannelMaxBytes) {
    return refuse("processing_class", "is too long: the channel " + channel + " has " + std::to_string(channel.size()) +
                                          " bytes and at most 63 are allowed");
  }
  return channel;
}

Result<void> check_channel(std::string_view channel) {
  if (channel.empty()) return refuse("channel", "must not be empty");
  if (channel.size() > kChannelMaxBytes) {
    return refuse("channel", "must be at most 63 bytes, not " + std::to_string(channel.size()));
  }
  if (is_digit(channel.front()) || !all_of(channel, is_identifier_char)) {
    return refuse("channel",
                  "must contain only lower-case letters, digits and underscores, and not start with a digit");
  }
  return {};
}

Result<void> check_context(std::string_view context, std::string_view field) {
  if (context.empty()) return refuse(field, "must not be empty");
  if (context.size() > kContextMaxBytes) {
    return refuse(field, "must be at most 63 bytes, not " + std::to_string(context.size()));
  }
  if (!is_context(context)) {
    return refuse(field,
                  "must start with a lower-case letter and contain only lower-case letters, digits and underscores");
  }
  return {};
}

Result<void> check_event_type(std::string_view event_type) {
  if (event_type.empty()) return refuse("event_type", "must not be empty");
  if (event_type.size() > kNameMaxBytes) {
    return refuse("event_type", "must be at most 255 bytes, not " + std::to_string(event_type.size()));
  }
  if (!is_letter(event_type.front()) || count_segments(event_type, is_type_segment) == 0) {
    return refuse("event_type",
                  "must start with a letter and be dot-separated segments of letters, digits, '_' and '-', like "
                  "platform.scan.completed");
  }
  return {};
}

Result<void> check_handler_name(std::string_view handler_name) {
  if (handler_name.empty()) return refuse("handler_name", "must not be empty");
  if (handler_name.size() > kNameMaxBytes) {
    return refuse("handler_name", "must be at most 255 bytes, not " + std::to_string(handler_name.size()));
  }
  if (count_segments(handler_name, is_context) < 2) {
    return refuse("handler_name", "must be scope.name in lower-case letters, digits and '_', like worlds.scan_indexer");
  }
  return {};
}

Result<void> check_trace_context(std::string_view trace_context) {
  std::string_view rest = trace_context;
  const bool version = take(rest, "00-");
  const std::string_view trace_id = take_hex(rest, 32);
  const bool first_dash = take(rest, "-");
  const std::string_view parent_id = take_hex(rest, 16);
  const bool second_dash = take(rest, "-");
  const std::string_view flags = take_hex(rest, 2);
  if (!version || trace_id.empty() || !first_dash || parent_id.empty() || !second_dash || flags.empty() ||
      !rest.empty()) {
    return refuse("trace_context", "must be a W3C traceparent in lower case: 00-<32 hex>-<16 hex>-<2 hex>");
  }
  if (all_zero(trace_id) || all_zero(parent_id)) {
    return refuse("trace_context", "must not have an all-zero trace or parent id");
  }
  return {};
}

}  // namespace sluice
