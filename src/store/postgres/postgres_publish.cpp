#include <set>

#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;

// Column by column, as publish.sql unnests them.
pq::Params columns(std::span<const NewEvent> events) {
  pq::Params params;
  const auto column = [&](Element element, auto add) {
    pq::Params::Array array = params.array(element);
    for (const NewEvent& event : events) add(array, event);
  };
  column(Element::uuid, [](auto& a, const NewEvent& e) { a.uuid(e.envelope.event_id()); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(std::string_view{e.envelope.event_type()}); });
  column(Element::int4, [](auto& a, const NewEvent& e) { a.int4(e.envelope.event_version()); });
  column(Element::timestamptz, [](auto& a, const NewEvent& e) { a.timestamptz(e.envelope.occurred_at()); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(std::string_view{e.envelope.source()}); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(e.envelope.target()); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(std::string_view{e.content_class}); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(std::string_view{e.channel}); });
  column(Element::int8, [](auto& a, const NewEvent& e) { a.int8(e.generation); });
  column(Element::uuid, [](auto& a, const NewEvent& e) { a.uuid(e.envelope.workspace_id()); });
  column(Element::jsonb, [](auto& a, const NewEvent& e) { a.jsonb(e.envelope.payload()); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(std::string_view{e.envelope.idempotency_key()}); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(e.envelope.trace_context()); });
  column(Element::text, [](auto& a, const NewEvent& e) { a.text(e.ordering_key); });
  column(Element::interval, [](auto& a, const NewEvent& e) { a.interval(e.delay); });
  column(Element::timestamptz, [](auto& a, const NewEvent& e) { a.timestamptz(e.not_before); });
  return params;
}

std::vector<PublishOutcome> outcomes_of(std::span<const NewEvent> events, const pq::Rows& inserted) {
  std::vector<PublishOutcome> outcomes(events.size(), PublishOutcome::published);
  if (inserted.size() == static_cast<int>(events.size())) return outcomes;
  std::set<Uuid> fresh;
  for (int row = 0; row < inserted.size(); ++row) fresh.insert(inserted.uuid(row, 0));
  for (std::size_t i = 0; i < events.size(); ++i) {
    // Erasing makes the second of two equal ids in one call the duplicate.
    if (fresh.erase(events[i].envelope.event_id()) == 0) outcomes[i] = PublishOutcome::duplicate;
  }
  return outcomes;
}

}  // namespace

Result<std::vector<PublishOutcome>> PostgresStore::publish(std::span<const NewEvent> events) {
  if (events.empty()) return std::vector<PublishOutcome>{};
  SLUICE_TRY(const pq::Rows inserted, run(writing(pg_sql::publish), columns(events)));
  return outcomes_of(events, inserted);
}

Result<bool> PostgresStore::generation_exists(Generation generation) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::generation_exists), pq::Params{}.int8(generation)));
  return rows.boolean(0, 0);
}

Result<std::vector<PublishOutcome>> publish_on(pg_conn* connection, std::span<const NewEvent> events) {
  if (events.empty()) return std::vector<PublishOutcome>{};
  SLUICE_TRY(const pq::Rows inserted, pq::run_within(connection, pg_sql::publish.text, columns(events)));
  return outcomes_of(events, inserted);
}

}  // namespace sluice::store
