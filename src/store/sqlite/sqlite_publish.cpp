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

/// As insert, and after an error nothing of the events stays while the transaction goes on.
Outcomes insert_or_undo(Connection& connection, std::span<const NewEvent> events, Timestamp now) {
  // One statement undoes itself.
  if (events.size() == 1) return insert(connection, events, now);
  return tentatively(
      connection, [&] { return insert(connection, events, now); }, [](const auto&) { return true; });
}

bool has_news(const PublishCall& call) {
  if (!call.outcomes) return false;
  return std::count(call.outcomes->begin(), call.outcomes->end(), PublishOutcome::published) > 0;
}

}  // namespace

Outcomes SqliteStore::publish(std::span<const NewEvent> events) {
  PublishCall call{events};
  if (!events.empty()) publishing_.run(call, events.size());
  return std::move(call.outcomes);
}

void SqliteStore::publish_together(std::span<PublishCall* const> calls) {
  const bool alone = calls.size() == 1;
  const auto committed = database_->write([&](Connection& connection) -> Result<void> {
    const Timestamp now = clock_();
    for (PublishCall* call : calls) {
      call->outcomes = alone ? insert(connection, call->events, now) : insert_or_undo(connection, call->events, now);
      // A refusal is the caller's own, unless SQLite has undone the whole transaction, as it does on a full disk.
      if (!call->outcomes && (alone || !connection.in_transaction())) return call->outcomes.error();
    }
    return {};
  });
  if (!committed) {
    for (PublishCall* call : calls) {
      if (call->outcomes) call->outcomes = committed.error();
    }
    return;
  }
  if (std::any_of(calls.begin(), calls.end(), [](const PublishCall* call) { return has_news(*call); })) bell_->notify();
}

}  // namespace sluice::store::sqlite

namespace sluice::store {

Result<std::vector<PublishOutcome>> publish_on(sqlite3* connection, std::span<const NewEvent> events, Timestamp now) {
  const auto borrowed = sqlite::Connection::borrow(connection);
  if (!borrowed->in_transaction()) {
    return invalid("transaction", "publishing joins your transaction: begin one on this connection first");
  }
  return sqlite::insert_or_undo(*borrowed, events, now);
}

}  // namespace sluice::store
