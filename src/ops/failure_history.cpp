// What went before each replay of an event, as its row keeps it.
#include <charconv>
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/event_story.hpp"

namespace sluice::ops {
namespace {

constexpr std::string_view kField = "failure_history";
// A payload stands two levels down.
constexpr json::Limits kDeep{.depth = json::kMaxDepth};

std::string text_or_empty(std::string_view raw) {
  auto text = json::string_value(raw, kField);
  return text ? *std::move(text) : std::string{};
}

std::int64_t number_or_zero(std::string_view raw) {
  std::int64_t number = 0;
  std::from_chars(raw.data(), raw.data() + raw.size(), number);
  return number;
}

std::optional<Timestamp> time_or_none(std::string_view raw) {
  const auto at = parse_iso8601(text_or_empty(raw), kField);
  return at ? std::optional{*at} : std::nullopt;
}

FailedCycle read_cycle(const std::vector<json::Member>& members) {
  FailedCycle cycle;
  for (const auto& [name, value] : members) {
    if (name == "cycle") cycle.cycle = number_or_zero(value);
    if (name == "attempts") cycle.attempts = number_or_zero(value);
    if (name == "last_error") cycle.last_error = text_or_empty(value);
    if (name == "first_failed_at") cycle.first_failed_at = time_or_none(value);
    if (name == "failed_at") cycle.failed_at = time_or_none(value);
    if (name == "replayed_at") cycle.replayed_at = time_or_none(value);
    if (name == "replayed_by") cycle.replayed_by = text_or_empty(value);
    if (name == "reason") cycle.reason = text_or_empty(value);
    if (name == "operation_id") cycle.operation_id = text_or_empty(value);
    if (name == "handler") cycle.handler = text_or_empty(value);
    if (name == "payload") cycle.payload = value;
    if (name == "delivered_at") cycle.delivered_at = time_or_none(value);
  }
  return cycle;
}

}  // namespace

std::vector<FailedCycle> read_history(std::string_view failure_history) {
  std::vector<FailedCycle> cycles;
  const auto entries = json::elements(failure_history, kField, kDeep);
  if (!entries) return cycles;
  for (const std::string_view entry : *entries) {
    if (const auto members = json::members(entry, kField, kDeep)) cycles.push_back(read_cycle(*members));
  }
  return cycles;
}

std::optional<std::string> history_with(std::string_view failure_history, const HistoryMember& shown) {
  const auto entries = json::elements(failure_history, kField, kDeep);
  if (!entries) return std::nullopt;
  std::vector<std::string> kept;
  for (const std::string_view entry : *entries) {
    const auto members = json::members(entry, kField, kDeep);
    if (!members) return std::nullopt;
    JsonObject object;
    for (const auto& [name, value] : *members) {
      if (const auto text = shown(name, value)) object.raw(name, *text);
    }
    kept.push_back(object.str());
  }
  return json_array(kept);
}

std::string payloadless_history(std::string_view failure_history) {
  const auto without = [](std::string_view name, std::string_view value) {
    return name == "payload" ? std::nullopt : std::optional{std::string{value}};
  };
  return history_with(failure_history, without).value_or(std::string{failure_history});
}

Result<std::string> payload_before(store::Administering& store, const Uuid& id, std::int64_t replay) {
  SLUICE_TRY(const auto event, store.get_event(id));
  for (FailedCycle& cycle : read_history(event.failure_history)) {
    if (cycle.cycle == replay && !cycle.payload.empty()) return std::move(cycle.payload);
  }
  const std::string message = "replay " + std::to_string(replay) + " did not change the payload of this event";
  return Error{ErrorCode::not_found, Retry::never, message, "before_replay", {}};
}

}  // namespace sluice::ops
