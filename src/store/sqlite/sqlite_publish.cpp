#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

std::optional<Timestamp> due(const NewEvent& event, Timestamp now) {
  if (event.delay) return now + *event.delay;
  return event.not_before;
}

/// The error of one event, naming which of the batch it was.
Error of_event(Error error, const NewEvent& event, std::size_t events) {
  if (events > 1) error.message = "event " + event.envelope.event_id().to_string() + ": " + error.message;
  return error;
}

}  // namespace

Result<std::vector<PublishOutcome>> SqliteStore::publish(std::span<const NewEvent> events) {
  std::vector<PublishOutcome> outcomes;
  if (events.empty()) return outcomes;
  outcomes.reserve(events.size());
  return database_->write([&](Connection& connection) -> Result<std::vector<PublishOutcome>> {
    const Timestamp now = clock_();
    for (const NewEvent& event : events) {
      const EventEnvelope& envelope = event.envelope;
      auto inserted = connection.run(sql::publish, {{":id", envelope.event_id()},
                                                    {":event_type", envelope.event_type()},
                                                    {":event_version", envelope.event_version()},
                                                    {":occurred_at", envelope.occurred_at()},
                                                    {":source", envelope.source()},
                                                    {":target", envelope.target()},
                                                    {":content_class", event.content_class},
                                                    {":channel", event.channel},
                                                    {":generation", event.generation},
                                                    {":workspace_id", envelope.workspace_id()},
                                                    {":payload", envelope.payload()},
                                                    {":idempotency_key", envelope.idempotency_key()},
                                                    {":trace_context", envelope.trace_context()},
                                                    {":retry_after", due(event, now)},
                                                    {":ordering_key", event.ordering_key},
                                                    {":now", now}});
      if (!inserted) return of_event(std::move(inserted).error(), event, events.size());
      outcomes.push_back(*inserted == 0 ? PublishOutcome::duplicate : PublishOutcome::published);
    }
    return std::move(outcomes);
  });
}

}  // namespace sluice::store::sqlite
