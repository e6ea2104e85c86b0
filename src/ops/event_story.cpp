#include "ops/event_story.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/json.hpp"

namespace sluice::ops {
namespace {

constexpr std::string_view kField = "failure_history";

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
  }
  return cycle;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string{noun} + (count == 1 ? "" : "s");
}

class Timeline {
 public:
  void add(std::optional<Timestamp> at, std::string what, std::string detail) {
    if (at) moments_.push_back({*at, std::move(what), std::move(detail)});
  }
  // Stable: what was added first comes first within the same microsecond.
  std::vector<Moment> sorted() && {
    std::stable_sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) { return a.at < b.at; });
    return std::move(moments_);
  }

 private:
  std::vector<Moment> moments_;
};

void add_history(Timeline& line, const store::EventRecord& event, bool replays_are_audited) {
  for (const FailedCycle& cycle : read_history(event.failure_history)) {
    const std::string label = "cycle " + std::to_string(cycle.cycle);
    line.add(cycle.first_failed_at, "first_failed", label);
    line.add(cycle.failed_at, "failed", label + ", " + counted(cycle.attempts, "attempt") + ": " + cycle.last_error);
    if (!replays_are_audited) line.add(cycle.replayed_at, "replayed", "by " + cycle.replayed_by);
  }
}

void add_current_cycle(Timeline& line, const store::EventRecord& event) {
  line.add(event.first_failed_at, "first_failed", "current cycle");
  const std::string worker = event.claimed_by.value_or("a worker");
  const std::string claim = "by " + worker + ", claim " + std::to_string(event.claim_seq);
  const std::string failures =
      counted(event.attempts, "attempt") + ": " + event.last_error.value_or("no error recorded");
  switch (event.status) {
    case Status::failed:
      // claimed_at stays on a failed row; it is the start of the attempt that failed it.
      line.add(event.claimed_at, "failed", failures);
      break;
    case Status::pending:
      if (event.retry_after) line.add(event.retry_after, "due", event.attempts > 0 ? "next try after " + failures : "");
      break;
    case Status::in_flight:
    case Status::delivered:
      line.add(event.claimed_at, "claimed", claim);
      break;
  }
}

}  // namespace

std::vector<FailedCycle> read_history(std::string_view failure_history) {
  std::vector<FailedCycle> cycles;
  const auto entries = json::elements(failure_history, kField);
  if (!entries) return cycles;
  for (const std::string_view entry : *entries) {
    if (const auto members = json::members(entry, kField)) cycles.push_back(read_cycle(*members));
  }
  return cycles;
}

std::vector<Moment> timeline(const store::EventRecord& event, const std::vector<store::HandledRecord>& handled,
                             const std::vector<store::AuditRecord>& audit) {
  Timeline line;
  line.add(event.envelope.occurred_at(), "occurred", "in " + event.envelope.source());
  line.add(event.published_at, "published",
           "generation " + std::to_string(event.generation) + ", channel " + event.channel);
  const bool replays_are_audited =
      std::any_of(audit.begin(), audit.end(), [](const auto& record) { return record.action == "replay"; });
  add_history(line, event, replays_are_audited);
  for (const auto& record : audit) {
    std::string detail = "by " + record.actor.name + " through " + record.actor.surface;
    if (!record.actor.reason.empty()) detail += ": " + record.actor.reason;
    line.add(record.at, record.action == "replay" ? "replayed" : record.action, std::move(detail));
  }
  add_current_cycle(line, event);
  for (const auto& record : handled) line.add(record.handled_at, "handled", "by " + record.key.handler_name);
  line.add(event.delivered_at, "delivered", "");
  return std::move(line).sorted();
}

Result<EventStory> tell_story(store::Administering& store, const Uuid& id) {
  auto event = store.get_event(id);
  if (!event) return std::move(event).error();
  auto handled = store.handled(*event);
  if (!handled) return std::move(handled).error();
  auto audit = store.audit_of(id);
  if (!audit) return std::move(audit).error();
  std::vector<Moment> moments = timeline(*event, *handled, *audit);
  return EventStory{*std::move(event), *std::move(handled), *std::move(audit), std::move(moments)};
}

}  // namespace sluice::ops
