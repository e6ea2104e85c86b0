#include <sluice/publisher.hpp>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "core/try.hpp"
#include "host/entropy.hpp"
#include "library/opening.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "telemetry/log.hpp"
#include "telemetry/messaging.hpp"

namespace sluice {

namespace {

using Outcomes = std::vector<store::PublishOutcome>;

void log_published(const telemetry::Logger& logger, const std::vector<store::NewEvent>& events,
                   const Outcomes& outcomes, std::string_view span) {
  if (!logger.enabled(telemetry::Level::info)) return;
  for (std::size_t i = 0; i < events.size(); ++i) {
    telemetry::log_published(logger, events[i].envelope, outcomes[i] == store::PublishOutcome::published, span);
  }
}

// The span of this call; stamps the events that have no trace context of their own.
std::unique_ptr<Span> trace_publish(Tracer& tracer, std::vector<store::NewEvent>& events) {
  std::vector<std::string_view> own;
  telemetry::PublishStart start{.event_type = events.front().envelope.event_type()};
  for (const store::NewEvent& event : events) {
    if (event.envelope.trace_context()) own.emplace_back(*event.envelope.trace_context());
    if (event.envelope.event_type() != start.event_type) start.event_type = {};
  }
  start.own = own;
  start.events = events.size();
  auto span = telemetry::start_publish(tracer, start);
  if (!span) return nullptr;
  if (span->recording()) {
    if (events.size() == 1) span->set("messaging.message.id", events.front().envelope.event_id().to_string());
    span->set("sluice.generation", events.front().generation);
  }
  for (store::NewEvent& event : events) {
    if (!event.envelope.trace_context()) {
      event.envelope = event.envelope.with_trace_context(std::string{span->traceparent()});
    }
  }
  return span;
}

}  // namespace

Result<PublisherOptions> PublisherOptions::from_environment() {
  SLUICE_TRY(auto choice, library::choice_from_environment());
  PublisherOptions options;
  options.store = std::move(choice.store);
  options.generation = choice.generation;
  return options;
}

class EventPublisher::Impl {
 public:
  Impl(library::OpenedStore opened, Generation generation, telemetry::Logger logger, std::shared_ptr<Tracer> tracer)
      : opened_(std::move(opened)), generation_(generation), logger_(std::move(logger)), tracer_(std::move(tracer)) {}

  Result<std::vector<store::NewEvent>> stamped(std::span<const EventEnvelope> events, const Routing& routing) const {
    SLUICE_TRY(auto channel, compose_channel(generation_, routing.processing_class));
    if (routing.ordering_key && (routing.ordering_key->empty() || routing.ordering_key->size() > 255)) {
      return invalid("ordering_key", "ordering_key must have 1 to 255 bytes");
    }
    if (routing.delay && *routing.delay < Duration::zero()) return invalid("delay", "delay must not be negative");
    std::vector<store::NewEvent> stamped;
    stamped.reserve(events.size());
    for (const EventEnvelope& event : events) {
      stamped.push_back({event, generation_, channel, routing.content_class, routing.ordering_key, routing.not_before,
                         routing.delay});
    }
    return stamped;
  }

  // Asked by the first publish, on a connection of the publisher's own: what has no worker and never will is refused.
  Result<void> check_generation() {
    if (generation_exists_) return {};
    SLUICE_TRY(const auto exists, store().generation_exists(generation_));
    if (!exists) return no_such_generation(generation_);
    generation_exists_ = true;
    return {};
  }

  template <class Write>
  Result<void> publish(std::span<const EventEnvelope> events, const Routing& routing, Write write) {
    SLUICE_TRY(auto ready, stamped(events, routing));
    SLUICE_CHECK(check_generation());
    const auto span = tracer_ && !ready.empty() ? trace_publish(*tracer_, ready) : nullptr;
    const Result<Outcomes> outcomes = write(ready);
    if (!outcomes) telemetry::note_error(span.get(), outcomes.error());
    if (!outcomes) return outcomes.error();
    log_published(logger_, ready, *outcomes, span ? span->traceparent() : std::string_view{});
    return {};
  }

  store::Store& store() { return *opened_.store; }

  EnvelopeDraft draft() {
    const std::lock_guard lock{mutex_};
    EnvelopeDraft draft;
    draft.occurred_at = host::wall_clock();
    draft.event_id = ids_.next(draft.occurred_at, host::random_bytes());
    return draft;
  }

 private:
  library::OpenedStore opened_;
  Generation generation_;
  std::atomic<bool> generation_exists_ = false;
  telemetry::Logger logger_;
  std::shared_ptr<Tracer> tracer_;  // none: nothing is traced
  std::mutex mutex_;
  UuidV7Sequence ids_;
};

Result<EventPublisher> EventPublisher::open(PublisherOptions options) {
  if (options.connections < 1) return invalid("connections", "connections must be at least 1");
  SLUICE_TRY(auto opened, library::open_store(options.store, options.connections));
  SLUICE_TRY(const auto generation, library::resolve_generation(options.generation, *opened.store));
  auto logger = library::make_logger({options.service, options.environment, options.log}, generation);
  return EventPublisher{
      std::make_unique<Impl>(std::move(opened), generation, std::move(logger), std::move(options.tracer))};
}

EventPublisher::EventPublisher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventPublisher::EventPublisher(EventPublisher&&) noexcept = default;
EventPublisher& EventPublisher::operator=(EventPublisher&&) noexcept = default;
EventPublisher::~EventPublisher() = default;

EnvelopeDraft EventPublisher::draft() const { return impl_->draft(); }

Result<void> EventPublisher::publish(std::span<const EventEnvelope> events, const Routing& routing) {
  return impl_->publish(events, routing,
                        [this](const std::vector<store::NewEvent>& ready) { return impl_->store().publish(ready); });
}

Result<void> EventPublisher::publish(std::span<const EventEnvelope> events, pg_conn* transaction,
                                     const Routing& routing) {
  return impl_->publish(events, routing, [transaction](const std::vector<store::NewEvent>& ready) {
    return store::publish_on(transaction, ready);
  });
}

Result<void> EventPublisher::publish(std::span<const EventEnvelope> events, sqlite3* transaction,
                                     const Routing& routing) {
  return impl_->publish(events, routing, [transaction](const std::vector<store::NewEvent>& ready) {
    return store::publish_on(transaction, ready, host::wall_clock());
  });
}

Result<void> EventPublisher::publish(const EventEnvelope& event, const Routing& routing) {
  return publish(std::span{&event, 1}, routing);
}
Result<void> EventPublisher::publish(const EventEnvelope& event, pg_conn* transaction, const Routing& routing) {
  return publish(std::span{&event, 1}, transaction, routing);
}
Result<void> EventPublisher::publish(const EventEnvelope& event, sqlite3* transaction, const Routing& routing) {
  return publish(std::span{&event, 1}, transaction, routing);
}

}  // namespace sluice
