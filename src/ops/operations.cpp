#include "ops/operations.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/audit.hpp"
#include "ops/event_query.hpp"
#include "ops/generations.hpp"

namespace sluice::ops {
namespace {

Result<Generation> target_generation(store::Administering& store, const BulkRequest& request) {
  Generation generation = request.to_generation.value_or(0);
  if (!request.to_generation) {
    SLUICE_TRY(generation, store.default_generation());
  }
  SLUICE_TRY(const bool retired, is_retired(store, generation));
  if (retired) return retired_generation(generation);
  return generation;
}

std::string ids_text(const std::vector<Uuid>& ids) {
  return std::to_string(ids.size()) + (ids.size() == 1 ? " event by id" : " events by id");
}

JsonObject& add_number(JsonObject& object, std::string_view name, const std::optional<std::int64_t>& value) {
  return value ? object.number(name, *value) : object.raw(name, "null");
}

std::int64_t seconds_of(Duration time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); }

std::string overlap_json(const Overlap& overlap) {
  return JsonObject{}
      .uuid("operation_id", overlap.operation_id)
      .text("filter", overlap.filter)
      .number("events", overlap.events)
      .str();
}

void add_overlaps(JsonObject& object, const std::vector<Overlap>& overlaps) {
  std::vector<std::string> texts;
  for (const Overlap& overlap : overlaps) texts.push_back(overlap_json(overlap));
  object.array("overlaps", texts);
}

// With the words of a saved filter, which may be another one tomorrow.
Result<std::string> filter_words(store::Administering& store, const BulkRequest& request) {
  if (!request.event_ids.empty()) return ids_text(request.event_ids);
  SLUICE_TRY(const auto query, request.query.expanded(store));
  if (request.except.empty()) return query.text();
  return query.text() + (query.empty() ? "all except " : " except ") + ids_text(request.except);
}

Result<store::EventFilter> filter_of(store::Administering& store, const BulkRequest& request) {
  auto filter = request.query.filter(store);
  if (filter) filter->except = request.except;
  return filter;
}

Result<void> check_range(const std::string& setting, int value, int most) {
  if (value >= 0 && value <= most) return {};
  return invalid(setting, setting + " must be a whole number from 0 to " + std::to_string(most));
}

using UnderWay = std::vector<store::OperationRecord>;

Result<UnderWay> operations_under_way(store::Administering& store) {
  constexpr int kLookedAt = 50;
  SLUICE_TRY(auto found, store.operations(kLookedAt));
  std::erase_if(found, [](const store::OperationRecord& operation) {
    const OperationState state = operation.progress.state;
    return state != OperationState::running && state != OperationState::paused;
  });
  return found;
}

/// What a filter names, among the events that they would take next.
Result<std::vector<Overlap>> overlaps_with(store::Administering& store, const store::EventFilter& filter) {
  std::vector<Overlap> overlaps;
  SLUICE_TRY(const auto others, operations_under_way(store));
  for (const store::OperationRecord& other : others) {
    SLUICE_TRY(const auto shared, store.count_dead_ahead(other.id, filter, kOverlapLook));
    if (shared > 0) overlaps.push_back({other.id, other.filter, shared});
  }
  return overlaps;
}

Result<BulkForecast> forecast_query(store::Administering& store, const BulkRequest& request,
                                    const ContractSet* contracts) {
  SLUICE_CHECK(check_settings(request.settings));
  SLUICE_TRY(const auto filter, filter_of(store, request));
  BulkForecast forecast;
  SLUICE_TRY(const auto counted, store.count_dead(filter, kForecastCap));
  forecast.count = counted;
  forecast.capped = counted >= kForecastCap;
  if (counted > 0) {
    SLUICE_TRY(forecast.overlaps, overlaps_with(store, filter));
  }
  if (request.kind != OperationKind::replay) return forecast;
  SLUICE_TRY(const auto generation, target_generation(store, request));
  forecast.to_generation = generation;
  if (forecast.count == 0) return forecast;
  SLUICE_TRY(const auto page, store.list_dead(filter, kPreviewEvents, std::nullopt));
  SLUICE_TRY(forecast.preview, preview_replay(store, page.events, generation, contracts));
  return forecast;
}

}  // namespace

Result<void> check_settings(const OperationSettings& settings) {
  SLUICE_CHECK(check_range("rate", settings.rate, kMostPerSecond));
  SLUICE_CHECK(check_range("canary", settings.canary, kMostPerSecond));
  return check_range("stop_percent", settings.stop_percent, 100);
}

OperationSettings changed(OperationSettings settings, const NewSettings& anew) {
  return {anew.rate.value_or(settings.rate), anew.canary.value_or(settings.canary),
          anew.stop_percent.value_or(settings.stop_percent)};
}

Result<store::OperationRecord> find_plan(store::Administering& store, const Uuid& id,
                                         std::optional<OperationKind> kind) {
  SLUICE_TRY(auto planned, store.operation(id));
  if (!kind || planned.progress.kind == *kind) return planned;
  return invalid("token", "token names a plan to " + std::string{name(planned.progress.kind)} + " events, not to " +
                              std::string{name(*kind)} + " them");
}

Result<store::OperationRecord> start_operation(store::Administering& store, const StartRequest& request,
                                               const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_TRY(const auto planned, find_plan(store, request.id, request.kind));
  const OperationSettings settings = changed(planned.progress.settings, request.settings);
  SLUICE_CHECK(check_settings(settings));
  return store.start_operation(request.id, request.count, settings, actor);
}

Result<store::OperationRecord> steer_operation(store::Administering& store, const Uuid& id,
                                               const store::OperationChange& change, const store::Actor& actor) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  SLUICE_CHECK(check_range("rate", change.rate, kMostPerSecond));
  return store.change_operation(id, change, actor);
}

Result<store::OperationRecord> find_operation(store::Administering& store, const Uuid& id) {
  return store.operation(id);
}

Result<void> check_operation_id(std::string_view given, std::string_view field) {
  if (id_digits(given, field)) return {};
  const std::string name{field};
  return invalid(name, name + ": `" + std::string{given.substr(0, 64)} +
                           "` is not an operation id: give a UUID, or its first " + std::to_string(kShortestId) +
                           " digits or more");
}

Result<Uuid> whole_operation_id(store::Administering& store, std::string_view given, std::string_view field) {
  SLUICE_CHECK(check_operation_id(given, field));
  if (auto whole = Uuid::parse(given, field)) return whole;
  SLUICE_TRY(const auto digits, id_digits(given, field));
  SLUICE_TRY(const auto latest, store.operations(kMaxPage));
  std::vector<Uuid> found;
  for (const auto& operation : latest) {
    SLUICE_TRY(const auto whole, id_digits(operation.id.to_string(), field));
    if (whole.starts_with(digits)) found.push_back(operation.id);
  }
  if (found.size() == 1) return found.front();
  const std::string name{field};
  if (found.empty()) {
    return Error{ErrorCode::not_found, Retry::never, "no operation id begins with " + std::string{given}, name, {}};
  }
  return invalid(name, name + ": `" + std::string{given} + "` begins " + std::to_string(found.size()) +
                           " operation ids; give more digits");
}

Result<std::vector<store::OperationRecord>> list_operations(store::Administering& store, int limit) {
  SLUICE_CHECK(check_page(limit));
  return store.operations(limit);
}

Result<ItemPage> list_items(store::Administering& store, const Uuid& id, int limit, std::int64_t after) {
  SLUICE_CHECK(check_page(limit));
  SLUICE_CHECK(store.operation(id));  // else one that does not exist would have no items
  SLUICE_TRY(auto items, store.operation_items(id, limit, after));
  ItemPage page{std::move(items), std::nullopt};
  if (page.items.size() == static_cast<std::size_t>(limit)) page.next_after = page.items.back().place;
  return page;
}

Result<BulkPlan> plan_bulk(store::Administering& store, const BulkRequest& request, const store::Actor& actor,
                           const host::Entropy& entropy, const ContractSet* contracts) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  SLUICE_CHECK(check_settings(request.settings));
  SLUICE_TRY(auto filter, filter_of(store, request));

  store::PlanRequest plan;
  plan.id = make_uuid_v7(entropy.clock(), entropy.random());
  plan.kind = request.kind;
  plan.filter = std::move(filter);
  plan.event_ids = request.event_ids;
  SLUICE_TRY(plan.filter_text, filter_words(store, request));
  plan.settings = request.settings;
  plan.valid_for = request.valid_for;
  plan.most = request.most;
  plan.actor = actor;
  if (request.kind == OperationKind::replay) {
    SLUICE_TRY(plan.to_generation, target_generation(store, request));
  }
  SLUICE_TRY(auto operation, store.plan_operation(plan));
  BulkPlan result{std::move(operation), std::nullopt, {}};
  if (result.operation.progress.counts.total > 0) {
    SLUICE_TRY(result.overlaps, overlaps_of(store, result.operation));
  }
  if (request.kind == OperationKind::replay && result.operation.progress.counts.total > 0) {
    SLUICE_TRY(result.preview, preview_operation(store, result.operation, contracts));
  }
  return result;
}

Result<BulkForecast> forecast_bulk(store::Administering& store, const BulkRequest& request, const store::Actor& actor,
                                   const host::Entropy& entropy, const ContractSet* contracts) {
  if (request.event_ids.empty() && request.kind != OperationKind::restore) {
    return forecast_query(store, request, contracts);
  }
  BulkRequest at_once = request;
  at_once.valid_for = Duration{1};
  SLUICE_TRY(auto plan, plan_bulk(store, at_once, actor, entropy, contracts));
  const store::OperationRecord& operation = plan.operation;
  return BulkForecast{operation.progress.counts.total, false, operation.to_generation, std::move(plan.preview),
                      std::move(plan.overlaps)};
}

std::string to_json(const store::OperationRecord& operation, std::optional<Timestamp> now) {
  const OperationPace pace = pace_of(operation, now.value_or(operation.planned_at));
  const OperationProgress& progress = operation.progress;
  const OperationCounts& counts = progress.counts;
  const auto phase = phase_of(progress);
  JsonObject object;
  object.uuid("operation_id", operation.id)
      .text("kind", name(progress.kind))
      .text("state", name(progress.state))
      .text("phase", phase ? std::optional{name(*phase)} : std::nullopt)
      .text("filter", operation.filter);
  add_number(object, "to_generation", operation.to_generation);
  return object.number("total", counts.total)
      .number("delivered", counts.delivered)
      .number("failed_again", counts.failed_again)
      .number("skipped", counts.skipped)
      .number("changed", counts.changed)
      .number("in_flight", counts.in_flight())
      .number("remaining", counts.remaining())
      .number("rate", progress.settings.rate)
      .number("canary", progress.settings.canary)
      .number("stop_percent", progress.settings.stop_percent)
      .raw("per_second", now && pace.per_second ? json_decimal(*pace.per_second) : "null")
      .raw("eta_seconds", now && pace.left ? std::to_string(seconds_of(*pace.left)) : "null")
      .text("actor", operation.actor.name)
      .text("surface", operation.actor.surface)
      .text("reason", operation.actor.reason)
      .text("note", operation.note)
      .text("executor", operation.executor)
      .time("planned_at", operation.planned_at)
      .time("expires_at", operation.expires_at)
      .time("started_at", operation.started_at)
      .time("ended_at", operation.ended_at)
      .str();
}

std::string to_json(const store::OperationRecord& operation, const std::vector<Overlap>& overlaps, Timestamp now) {
  JsonObject object{to_json(operation, now)};
  add_overlaps(object, overlaps);
  return object.str();
}

std::string to_json(const store::OperationItem& item) {
  return JsonObject{}.number("place", item.place).uuid("event_id", item.event_id).text("state", item.state).str();
}

std::string to_json(const std::vector<store::OperationRecord>& operations, std::optional<Timestamp> now) {
  std::vector<std::string> texts;
  for (const auto& operation : operations) texts.push_back(to_json(operation, now));
  return JsonObject{}.array("operations", texts).str();
}

std::string to_json(const ItemPage& page) {
  std::vector<std::string> texts;
  for (const auto& item : page.items) texts.push_back(to_json(item));
  JsonObject object;
  object.array("items", texts);
  return add_number(object, "next_after", page.next_after).str();
}

std::string to_json(const BulkPlan& plan) {
  const bool kept = plan.operation.progress.counts.total > 0;
  JsonObject object{to_json(plan.operation)};
  object.text("token", kept ? std::optional{plan.operation.id.to_string()} : std::nullopt);
  add_overlaps(object, plan.overlaps);
  return object.raw("preview", plan.preview ? to_json(*plan.preview) : "null").str();
}

std::string to_json(const BulkForecast& forecast, OperationKind kind) {
  JsonObject object;
  object.boolean("dry_run", true).text("kind", name(kind)).number("count", forecast.count);
  object.boolean("capped", forecast.capped);
  add_number(object, "to_generation", forecast.to_generation);
  add_overlaps(object, forecast.overlaps);
  return object.raw("preview", forecast.preview ? to_json(*forecast.preview) : "null").str();
}

// How fast an operation goes on, and which others have the same events before them.

namespace {

constexpr int kItemsAtOnce = 1000;
// Before that an average says nothing.
constexpr Duration kShortest = std::chrono::seconds{1};

/// The events of an operation that have no outcome yet, among kOverlapLook of its set. They begin where it is: what it
/// took before has its outcome, but for a few that lag behind.
Result<std::set<Uuid>> open_events(store::Administering& store, const store::OperationRecord& operation) {
  std::set<Uuid> open;
  const OperationCounts& counts = operation.progress.counts;
  const std::int64_t from = counts.taken - counts.in_flight();
  for (std::int64_t after = from; after - from < kOverlapLook;) {
    SLUICE_TRY(const auto items, store.operation_items(operation.id, kItemsAtOnce, after));
    for (const store::OperationItem& item : items) {
      if (item.state == "waiting" || item.state == "in_flight") open.insert(item.event_id);
    }
    if (items.size() < static_cast<std::size_t>(kItemsAtOnce)) break;
    after = items.back().place;
  }
  return open;
}

}  // namespace

OperationPace pace_of(const store::OperationRecord& operation, Timestamp now) {
  OperationPace pace;
  const OperationCounts& counts = operation.progress.counts;
  const std::int64_t done = counts.taken - counts.in_flight();
  // While it is paused an average would only fall.
  if (!operation.started_at || done == 0 || operation.progress.state == OperationState::paused) return pace;
  const Duration took = operation.ended_at.value_or(now) - *operation.started_at;
  if (took < kShortest) return pace;
  pace.per_second = static_cast<double>(done) / std::chrono::duration<double>(took).count();
  if (operation.progress.state != OperationState::running) return pace;
  const std::int64_t open = counts.remaining() + counts.in_flight();
  double seconds = static_cast<double>(open) / *pace.per_second;
  // The average of a canary, or of a rate that was lowered since, may be faster than what is allowed now.
  if (const int rate = operation.progress.settings.rate; rate > 0) {
    seconds = std::max(seconds, static_cast<double>(counts.remaining()) / rate);
  }
  pace.left = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return pace;
}

Result<std::vector<Overlap>> overlaps_of(store::Administering& store, const store::OperationRecord& operation) {
  std::vector<Overlap> overlaps;
  if (operation.progress.state != OperationState::planned) return overlaps;
  SLUICE_TRY(const auto others, operations_under_way(store));
  if (others.empty()) return overlaps;
  SLUICE_TRY(const auto own, open_events(store, operation));
  for (const store::OperationRecord& other : others) {
    SLUICE_TRY(const auto theirs, open_events(store, other));
    const auto shared = std::count_if(own.begin(), own.end(), [&](const Uuid& id) { return theirs.contains(id); });
    if (shared > 0) overlaps.push_back({other.id, other.filter, shared});
  }
  return overlaps;
}

std::string in_words(const Overlap& overlap) {
  return counted(overlap.events, "event") + (overlap.events == 1 ? " is" : " are") + " also in operation " +
         overlap.operation_id.to_string() + (overlap.filter.empty() ? "" : " (" + overlap.filter + ")") +
         ", which is under way: whichever comes first takes them, the other skips them";
}

}  // namespace sluice::ops
