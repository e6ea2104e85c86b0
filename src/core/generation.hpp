// Generations, channels and names: the rules that route an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice {

/// A deployment generation. Workers claim and listen only to their own.
using Generation = std::int64_t;

inline constexpr Generation kFirstGeneration = 1;
inline constexpr std::size_t kChannelMaxBytes = 63;
inline constexpr std::string_view kDefaultChannel = "outbox_default";

enum class GenerationState { allocated, live, draining, retired };
std::string_view name(GenerationState state);
std::optional<GenerationState> parse_generation_state(std::string_view text);
/// allocated → live → draining → retired, and back from draining to live (a rollback).
bool is_legal(GenerationState from, GenerationState to);

/// At least 1; `field` names the input.
Result<Generation> parse_generation(std::string_view text, std::string_view field = "generation");

/// For whoever would publish to it: its events would wait for ever.
Error no_such_generation(Generation generation);
/// For whoever would send events to it.
Error retired_generation(Generation generation);

/// `outbox_gen_<N>`, or `outbox_gen_<N>_<class>` for a processing class.
Result<std::string> compose_channel(Generation generation, std::string_view processing_class = {});

/// 1 to 63 bytes of `[a-z0-9_]`, not starting with a digit: safe as an SQL identifier.
Result<void> check_channel(std::string_view channel);
/// `[a-z][a-z0-9_]*`, at most 63 bytes. `field` is `source` or `target`.
Result<void> check_context(std::string_view context, std::string_view field);
/// Dot-separated segments of `[A-Za-z0-9_-]`, at most 255 bytes, starting with a letter.
Result<void> check_event_type(std::string_view event_type);
/// `scope.name`: at least two segments of `[a-z][a-z0-9_]*`, at most 255 bytes.
Result<void> check_handler_name(std::string_view handler_name);
/// Lower-case W3C traceparent `00-<32 hex>-<16 hex>-<2 hex>`, no all-zero ids.
Result<void> check_trace_context(std::string_view trace_context);

}  // namespace sluice
