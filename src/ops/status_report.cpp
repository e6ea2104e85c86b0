#include "ops/status_report.hpp"

#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/sinks.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

// More than anybody looks at one by one; counting them stays cheap.
constexpr std::int64_t kDeadLettersCounted = 10'000;

std::string dead_json(const DeadTally& tally) {
  return JsonObject{}
      .number("count", tally.count)
      .number("unacknowledged", tally.unacknowledged)
      .boolean("capped", tally.capped)
      .str();
}

std::string unsubscribed_json(const store::UnsubscribedCount& count) {
  return JsonObject{}
      .number("generation", count.generation)
      .text("event_type", count.event_type)
      .text("target", count.target)
      .number("count", count.count)
      .time("oldest_at", count.oldest)
      .str();
}

template <class Items, class Write>
std::vector<std::string> json_of(const Items& items, Write write) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const auto& item : items) texts.push_back(write(item));
  return texts;
}

}  // namespace

Result<StatusReport> report_status(store::Administering& store) {
  SLUICE_TRY(auto survey, survey_generations(store));
  SLUICE_TRY(const auto schema, store.schema_version());
  SLUICE_TRY(const auto generation, store.default_generation());
  SLUICE_TRY(auto sinks, store.sinks());
  SLUICE_TRY(const auto dead, tally_dead(store, kDeadLettersCounted));
  SLUICE_TRY(auto unsubscribed, store.unsubscribed());
  return StatusReport{store.display_name(),
                      schema,
                      survey.now,
                      generation,
                      std::move(survey.generations),
                      survey.discarded,
                      survey.discarded_estimated,
                      dead,
                      std::move(survey.workers),
                      std::move(sinks.sinks),
                      std::move(unsubscribed)};
}

std::string to_json(const StatusReport& report) {
  return JsonObject{}
      .text("store", report.store)
      .raw("schema", JsonObject{}.number("applied", report.schema.applied).number("known", report.schema.known).str())
      .time("now", report.now)
      .number("default_generation", report.default_generation)
      .array("generations", json_of(report.generations, [](const GenerationStatus& row) { return ops::to_json(row); }))
      .number("discarded", report.discarded)
      .boolean("discarded_estimated", report.discarded_estimated)
      .raw("dead_letters", dead_json(report.dead_letters))
      .array("workers", json_of(report.workers, [&](const auto& worker) { return ops::to_json(worker, report.now); }))
      .array("sinks", json_of(report.sinks, [&](const auto& sink) { return ops::to_json(sink, report.now); }))
      .array("unsubscribed", json_of(report.unsubscribed, [](const auto& count) { return unsubscribed_json(count); }))
      .str();
}

}  // namespace sluice::ops
