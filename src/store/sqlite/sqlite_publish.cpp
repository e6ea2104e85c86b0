#include <algorithm>

#include "store/sqlite/sqlite_store.hpp"
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

using Outcomes = Result<std::vector<PublishOutcome>>;

/// In the transaction that is open.
Outcomes insert(Connection& connection, std::span<const NewEvent> events, Timestamp now) {
  std::vector<PublishOutcome> outcomes;
  outcomes.reserve(events.size());
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
  return outcomes;
}

}  // namespace

Outcomes SqliteStore::publish(std::span<const NewEvent> events) {
  if (events.empty()) return std::vector<PublishOutcome>{};
  auto outcomes =
      database_->write([&](Connection& connection) -> Outcomes { return insert(connection, events, clock_()); });
  if (outcomes && std::count(outcomes->begin(), outcomes->end(), PublishOutcome::published) > 0) bell_->ring();
  return outcomes;
}

}  // namespace sluice::store::sqlite

namespace sluice::store {

Result<std::vector<PublishOutcome>> publish_on(sqlite3* connection, std::span<const NewEvent> events, Timestamp now) {
  const auto borrowed = sqlite::Connection::borrow(connection);
  if (!borrowed->in_transaction()) {
    return invalid("transaction", "publishing joins your transaction: begin one on this connection first");
  }
  // The caller may go on after an error, and then nothing of the batch may stay.
  if (auto begun = borrowed->script("savepoint sluice_publish"); !begun) return std::move(begun).error();
  auto outcomes = sqlite::insert(*borrowed, events, now);
  // Fails only where SQLite has undone the whole transaction by itself.
  if (!outcomes) static_cast<void>(borrowed->script("rollback to sluice_publish").has_value());
  auto released = borrowed->script("release sluice_publish");
  if (outcomes && !released) return std::move(released).error();
  return outcomes;
}

}  // namespace sluice::store
