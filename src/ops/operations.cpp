#include "ops/operations.hpp"

#include <utility>

#include "ops/json_object.hpp"

namespace sluice::ops {
namespace {

Result<Generation> target_generation(store::Administering& store, const BulkRequest& request) {
  if (request.to_generation) return *request.to_generation;
  return store.default_generation();
}

std::string ids_text(const std::vector<Uuid>& ids) {
  return std::to_string(ids.size()) + (ids.size() == 1 ? " event by id" : " events by id");
}

JsonObject& add_number(JsonObject& object, std::string_view name, const std::optional<std::int64_t>& value) {
  return value ? object.number(name, *value) : object.raw(name, "null");
}

std::string filter_words(const BulkRequest& request) {
  if (!request.event_ids.empty()) return ids_text(request.event_ids);
  if (request.except.empty()) return request.query.text();
  return request.query.text() + (request.query.empty() ? "all except " : " except ") + ids_text(request.except);
}

Result<store::EventFilter> filter_of(store::Store& store, const BulkRequest& request) {
  auto filter = request.query.filter(store);
  if (filter) filter->except = request.except;
  return filter;
}

Result<BulkForecast> forecast_query(store::Store& store, const BulkRequest& request, const ContractSet* contracts) {
  if (auto checked = check_settings(request.settings); !checked) return std::move(checked).error();
  const auto filter = filter_of(store, request);
  if (!filter) return filter.error();
  BulkForecast forecast;
  const auto counted = store.count_dead(*filter, kForecastCap);
  if (!counted) return counted.error();
  forecast.count = *counted;
  forecast.capped = *counted >= kForecastCap;
  if (request.kind != OperationKind::replay) return forecast;
  const auto generation = target_generation(store, request);
  if (!generation) return generation.error();
  forecast.to_generation = *generation;
  if (forecast.count == 0) return forecast;
  const auto page = store.list_dead(*filter, kPreviewEvents, std::nullopt);
  if (!page) return page.error();
  auto preview = preview_replay(store, page->events, *generation, contracts);
  if (!preview) return std::move(preview).error();
  forecast.preview = *std::move(preview);
  return forecast;
}

}  // namespace

Result<void> check_settings(const OperationSettings& settings) {
  if (settings.rate < 0) return invalid("rate", "rate must be at least 1 event per second, or 0 for no limit");
  if (settings.canary < 0) return invalid("canary", "canary must be a number of events, 0 for none");
  if (settings.stop_percent < 0 || settings.stop_percent > 100) {
    return invalid("stop_percent", "stop_percent must be from 0 to 100");
  }
  return {};
}

Result<BulkPlan> plan_bulk(store::Store& store, const BulkRequest& request, const store::Actor& actor,
                           const host::Entropy& entropy, const ContractSet* contracts) {
  if (auto checked = check_settings(request.settings); !checked) return std::move(checked).error();
  auto filter = filter_of(store, request);
  if (!filter) return std::move(filter).error();

  store::PlanRequest plan;
  plan.id = make_uuid_v7(entropy.clock(), entropy.random());
  plan.kind = request.kind;
  plan.filter = *std::move(filter);
  plan.event_ids = request.event_ids;
  plan.filter_text = filter_words(request);
  plan.settings = request.settings;
  plan.valid_for = request.valid_for;
  plan.most = request.most;
  plan.actor = actor;
  if (request.kind == OperationKind::replay) {
    const auto generation = target_generation(store, request);
    if (!generation) return generation.error();
    plan.to_generation = *generation;
  }
  auto operation = store.plan_operation(plan);
  if (!operation) return std::move(operation).error();
  BulkPlan result{*std::move(operation), std::nullopt};
  if (request.kind == OperationKind::replay && result.operation.progress.counts.total > 0) {
    auto preview = preview_operation(store, result.operation, contracts);
    if (!preview) return std::move(preview).error();
    result.preview = *std::move(preview);
  }
  return result;
}

Result<BulkForecast> forecast_bulk(store::Store& store, const BulkRequest& request, const store::Actor& actor,
                                   const host::Entropy& entropy, const ContractSet* contracts) {
  if (request.event_ids.empty() && request.kind != OperationKind::restore) {
    return forecast_query(store, request, contracts);
  }
  BulkRequest at_once = request;
  at_once.valid_for = Duration{1};
  auto plan = plan_bulk(store, at_once, actor, entropy, contracts);
  if (!plan) return std::move(plan).error();
  const store::OperationRecord& operation = plan->operation;
  return BulkForecast{operation.progress.counts.total, false, operation.to_generation, std::move(plan->preview)};
}

std::string to_json(const store::OperationRecord& operation) {
  const OperationProgress& progress = operation.progress;
  const OperationCounts& counts = progress.counts;
  JsonObject object;
  object.uuid("operation_id", operation.id)
      .text("kind", name(progress.kind))
      .text("state", name(progress.state))
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

std::string to_json(const store::OperationItem& item) {
  return JsonObject{}.number("place", item.place).uuid("event_id", item.event_id).text("state", item.state).str();
}

std::string to_json(const BulkPlan& plan) {
  const bool kept = plan.operation.progress.counts.total > 0;
  JsonObject object{to_json(plan.operation)};
  object.text("token", kept ? std::optional{plan.operation.id.to_string()} : std::nullopt);
  return object.raw("preview", plan.preview ? to_json(*plan.preview) : "null").str();
}

std::string to_json(const BulkForecast& forecast, OperationKind kind) {
  JsonObject object;
  object.boolean("dry_run", true).text("kind", name(kind)).number("count", forecast.count);
  object.boolean("capped", forecast.capped);
  add_number(object, "to_generation", forecast.to_generation);
  return object.raw("preview", forecast.preview ? to_json(*forecast.preview) : "null").str();
}

}  // namespace sluice::ops
