#include "http/publish_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "telemetry/publish_line.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t kListedIds = 20;

// Who repeats the request must name the ids, and may not know those that were made here.
std::string how_to_repeat(std::span<const store::NewEvent> events) {
  if (events.size() > kListedIds) return "send the same events again if you gave them ids; else look for them first";
  std::string ids;
  for (const store::NewEvent& event : events) {
    ids.append(ids.empty() ? "" : ", ").append(event.envelope.event_id().to_string());
  }
  return "sending the same events again is safe with event_id " + ids;
}

Error explained(Error error, std::span<const store::NewEvent> events) {
  if (error.retry != Retry::in_doubt) return error;
  error.message = "unknown: the answer to COMMIT was lost; the events may be stored";
  error.hint = how_to_repeat(events);
  return error;
}

}  // namespace

PublishEndpoint::PublishEndpoint(ops::PublishQueue& queue, store::Administering& store, PublishEndpointOptions options)
    : queue_(queue), store_(store), options_(std::move(options)) {}

Result<store::NewEvent> PublishEndpoint::prepare(ops::PublishRequest request) {
  if (!request.id) {
    const std::lock_guard lock{mutex_};
    request.id = ids_.next(options_.entropy.clock(), options_.entropy.random());
  }
  // With an id given it keeps nothing from one event to the next.
  ops::EventPublishing publishing{options_.entropy, options_.limits};
  return publishing.prepare(request, request.generation.value_or(options_.generation));
}

void PublishEndpoint::store(std::vector<store::NewEvent> events, Stored stored, Respond respond) {
  queue_.submit(std::move(events),
                [this, stored = std::move(stored), respond = std::move(respond)](
                    std::span<const store::NewEvent> own, const ops::PublishQueue::Outcomes& outcomes) {
                  count(own, outcomes);
                  if (!outcomes) return respond(problem(explained(outcomes.error(), own)));
                  log(own, *outcomes);
                  answer(own, *outcomes, stored, respond);
                });
}

Result<void> PublishEndpoint::show_stored(std::vector<store::NewEvent>& events,
                                          std::span<const store::PublishOutcome> outcomes) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (outcomes[i] == store::PublishOutcome::published) continue;
    auto found = ops::stored_event(store_, events[i].envelope.event_id());
    if (!found) return std::move(found).error();
    events[i] = *std::move(found);
  }
  return {};
}

void PublishEndpoint::answer(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes,
                             const Stored& stored, Respond respond) {
  const auto is_new = [](store::PublishOutcome outcome) { return outcome == store::PublishOutcome::published; };
  if (std::all_of(outcomes.begin(), outcomes.end(), is_new)) return respond(stored(events, outcomes));
  struct Told {
    std::vector<store::NewEvent> events;
    std::vector<store::PublishOutcome> outcomes;
  };
  const auto told = std::make_shared<Told>(Told{{events.begin(), events.end()}, {outcomes.begin(), outcomes.end()}});
  const auto look_up = [this, told, stored, respond = std::move(respond)] {
    // To repeat the request is safe.
    if (auto shown = show_stored(told->events, told->outcomes); !shown) return respond(problem(shown.error()));
    respond(stored(told->events, told->outcomes));
  };
  if (!options_.elsewhere || !options_.elsewhere(look_up)) look_up();
}

void PublishEndpoint::count(std::span<const store::NewEvent> events,
                            const ops::PublishQueue::Outcomes& outcomes) const {
  if (!options_.on_outcome) return;
  if (!outcomes)
    return options_.on_outcome(outcomes.error().retry == Retry::never ? "refused" : "error", events.size());
  const auto fresh = std::count(outcomes->begin(), outcomes->end(), store::PublishOutcome::published);
  if (fresh > 0) options_.on_outcome("published", static_cast<std::size_t>(fresh));
  const std::size_t again = events.size() - static_cast<std::size_t>(fresh);
  if (again > 0) options_.on_outcome("duplicate", again);
}

void PublishEndpoint::log(std::span<const store::NewEvent> events,
                          std::span<const store::PublishOutcome> outcomes) const {
  if (!options_.logger.enabled(telemetry::Level::info)) return;
  for (std::size_t i = 0; i < events.size(); ++i) {
    telemetry::log_published(options_.logger.with_generation(events[i].generation), events[i].envelope,
                             outcomes[i] == store::PublishOutcome::published);
  }
}

}  // namespace sluice::http
