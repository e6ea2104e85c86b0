#include "ops/replay_preview.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

constexpr std::size_t kSamplesPerVerdict = 3;

constexpr std::array<std::pair<ReplayVerdict, std::string_view>, 5> kVerdicts{{
    {ReplayVerdict::will_run, "will_run"},
    {ReplayVerdict::already_handled, "already_handled"},
    {ReplayVerdict::no_live_worker, "no_live_worker"},
    {ReplayVerdict::nobody_subscribes, "nobody_subscribes"},
    {ReplayVerdict::payload_invalid, "payload_invalid"},
}};

// A channel made from the old generation follows the event to the new one.
std::string channel_in(const store::EventRecord& event, Generation generation) {
  const auto own = compose_channel(event.generation);
  const auto next = compose_channel(generation);
  const bool composed = own && next && (event.channel == *own || event.channel.starts_with(*own + '_'));
  return composed ? *next + event.channel.substr(own->size()) : event.channel;
}

// Who would get what in one generation, as it is now.
class Landscape {
 public:
  static Result<Landscape> look(store::Administering& store, Generation generation) {
    Landscape seen{generation};
    SLUICE_TRY(auto registry, store.registry(generation));
    seen.subscriptions_ = std::move(registry.subscriptions);
    SLUICE_TRY(const auto workers, store.workers(kAliveWithin));
    for (const auto& worker : workers) {
      if (worker.generation == generation) seen.served_.insert(worker.handlers.begin(), worker.handlers.end());
    }
    return seen;
  }

  [[nodiscard]] std::vector<std::string> handlers_of(const store::EventRecord& event) const {
    const std::string channel = channel_in(event, generation_);
    const Route route{event.envelope.event_type(), event.envelope.target(), channel};
    std::vector<std::string> names;
    for (const auto& record : subscriptions_) {
      if (record.subscription.matches(route)) names.push_back(record.subscription.handler_name);
    }
    return names;
  }
  [[nodiscard]] bool serves(const std::string& handler) const { return served_.contains(handler); }

 private:
  explicit Landscape(Generation generation) : generation_(generation) {}
  Generation generation_;
  std::vector<store::SubscriptionRecord> subscriptions_;
  std::set<std::string> served_;
};

Result<std::set<store::HandledKey>> handled_keys(store::Observing& store,
                                                 const std::vector<store::EventRecord>& events) {
  std::vector<std::string> asked;
  for (const auto& event : events) asked.push_back(event.envelope.idempotency_key());
  SLUICE_TRY(const auto handled, store.handled(asked));
  std::set<store::HandledKey> keys;
  for (const auto& record : handled) keys.insert(record.key);
  return keys;
}

ReplayVerdict judge(const EventForecast& forecast, const Landscape& landscape) {
  if (!forecast.why.empty()) return ReplayVerdict::payload_invalid;
  if (forecast.will_run.empty()) {
    return forecast.handled.empty() ? ReplayVerdict::nobody_subscribes : ReplayVerdict::already_handled;
  }
  const bool served = std::any_of(forecast.will_run.begin(), forecast.will_run.end(),
                                  [&](const std::string& handler) { return landscape.serves(handler); });
  return served ? ReplayVerdict::will_run : ReplayVerdict::no_live_worker;
}

std::string objection(const store::EventRecord& event, const ContractSet* contracts) {
  const ContractEntry* entry = contracts != nullptr ? contracts->applied_to(event.envelope) : nullptr;
  if (entry == nullptr) return {};
  const auto checked = check_payload(entry->contract, event.envelope.payload());
  return checked ? std::string{} : checked.error().field + ": " + checked.error().message;
}

std::string verdict_words(ReplayVerdict verdict, bool one) {
  switch (verdict) {
    case ReplayVerdict::will_run:
      return "will run";
    case ReplayVerdict::already_handled:
      return one ? "is already handled" : "are already handled";
    case ReplayVerdict::no_live_worker:
      return one ? "has no live worker" : "have no live worker";
    case ReplayVerdict::nobody_subscribes:
      return one ? "has no subscriber" : "have no subscriber";
    case ReplayVerdict::payload_invalid:
      return one ? "has an invalid payload" : "have an invalid payload";
  }
  return {};
}

void add(ReplayPreview& preview, EventForecast forecast) {
  ++preview.examined;
  const std::int64_t nth = ++preview.verdicts[forecast.verdict];
  for (const std::string& handler : forecast.will_run) ++preview.handlers[handler].will_run;
  for (const std::string& handler : forecast.handled) ++preview.handlers[handler].handled;
  if (nth <= static_cast<std::int64_t>(kSamplesPerVerdict)) preview.sample.push_back(std::move(forecast));
}

std::string forecast_json(const EventForecast& forecast) {
  return JsonObject{}
      .uuid("event_id", forecast.event_id)
      .text("event_type", forecast.event_type)
      .text("verdict", name(forecast.verdict))
      .texts("will_run", forecast.will_run)
      .texts("handled", forecast.handled)
      .text("why", forecast.why)
      .str();
}

}  // namespace

std::string_view name(ReplayVerdict verdict) {
  return std::find_if(kVerdicts.begin(), kVerdicts.end(), [&](const auto& row) { return row.first == verdict; })
      ->second;
}

Result<ReplayPreview> preview_replay(store::Administering& store, const std::vector<store::EventRecord>& events,
                                     Generation generation, const ContractSet* contracts) {
  SLUICE_TRY(const auto landscape, Landscape::look(store, generation));
  SLUICE_TRY(const auto handled, handled_keys(store, events));
  ReplayPreview preview;
  preview.generation = generation;
  for (const auto& event : events) {
    EventForecast forecast;
    forecast.event_id = event.envelope.event_id();
    forecast.event_type = event.envelope.event_type();
    for (std::string& handler : landscape.handlers_of(event)) {
      const bool done = handled.contains({handler, event.envelope.idempotency_key()});
      (done ? forecast.handled : forecast.will_run).push_back(std::move(handler));
    }
    forecast.why = objection(event, contracts);
    forecast.verdict = judge(forecast, landscape);
    add(preview, std::move(forecast));
  }
  for (auto& [handler, counts] : preview.handlers) counts.live = landscape.serves(handler);
  return preview;
}

Result<ReplayPreview> preview_operation(store::Administering& store, const store::OperationRecord& operation,
                                        const ContractSet* contracts) {
  SLUICE_TRY(const auto items, store.operation_items(operation.id, kPreviewEvents, 0));
  std::vector<store::EventRecord> events;
  for (const auto& item : items) {
    auto event = store.get_event(item.event_id);
    if (!event && event.error().code == ErrorCode::not_found) continue;
    if (!event) return std::move(event).error();
    events.push_back(*std::move(event));
  }
  return preview_replay(store, events, operation.to_generation.value_or(kFirstGeneration), contracts);
}

std::string in_words(const ReplayPreview& preview) {
  std::string words;
  for (const auto& [verdict, count] : preview.verdicts) {
    words += (words.empty() ? "" : ", ") + counted(count, "event") + ' ' + verdict_words(verdict, count == 1);
  }
  return words;
}

std::string to_json(const ReplayPreview& preview) {
  JsonObject verdicts;
  for (const auto& [verdict, text] : kVerdicts) {
    const auto found = preview.verdicts.find(verdict);
    verdicts.number(text, found == preview.verdicts.end() ? 0 : found->second);
  }
  std::vector<std::string> handlers;
  for (const auto& [handler, counts] : preview.handlers) {
    handlers.push_back(JsonObject{}
                           .text("handler_name", handler)
                           .number("will_run", counts.will_run)
                           .number("already_handled", counts.handled)
                           .boolean("live", counts.live)
                           .str());
  }
  std::vector<std::string> sample;
  for (const auto& forecast : preview.sample) sample.push_back(forecast_json(forecast));
  return JsonObject{}
      .number("generation", preview.generation)
      .number("examined", preview.examined)
      .raw("verdicts", verdicts.str())
      .array("handlers", handlers)
      .array("sample", sample)
      .str();
}

}  // namespace sluice::ops
