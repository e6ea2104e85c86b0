#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/snapshot.hpp"

namespace sluice::store {
namespace {

constexpr std::int32_t kMostWaiting = 20'000;

}  // namespace

Result<Timestamp> PostgresStore::now() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::now)));
  return rows.timestamptz(0, 0);
}

Result<std::optional<EventNumbers>> PostgresStore::numbers_with(std::optional<Status> status) {
  EventNumbers numbers;
  const auto add_all = [&](const pq::Rows& rows) {
    for (int row = 0; row < rows.size(); ++row) numbers.add(rows.int8(row, 0), rows.int8(row, 1));
  };
  if (status == Status::in_flight) {
    SLUICE_TRY(const pq::Rows claimed, run(reading(pg_sql::in_flight_numbers)));
    add_all(claimed);
    return std::optional{std::move(numbers)};
  }
  const std::optional<EventNumbers> unknown;
  if (status != Status::pending) return unknown;
  const std::scoped_lock lock{walks_mutex_};
  return in_snapshot(
      pool_, options_.longest_statement, [&](pq::Connection& connection) -> Result<std::optional<EventNumbers>> {
        PendingReader pending{connection, current_walks()};
        SLUICE_CHECK(pending.read(PendingWalk::Reach::some));
        SLUICE_CHECK(pending.end());
        const auto found = pending.found();
        if (!found) return unknown;
        SLUICE_TRY(const pq::Rows waiting,
                   connection.run(reading(pg_sql::waiting_numbers), pq::Params{}.int4(kMostWaiting + 1)));
        if (waiting.size() > kMostWaiting) return unknown;
        numbers = *found;
        add_all(waiting);
        return std::optional{std::move(numbers)};
      });
}

Result<EventPage> PostgresStore::list_events(const EventFilter& filter, int limit, std::optional<std::int64_t> after) {
  if (limit < 1) return invalid("limit", "expected at least 1, got " + std::to_string(limit));
  const bool prefix = filter.event_type.ends_with('*');
  const std::string_view type = filter.event_type;
  pq::Params params;
  params.int8(after);
  filter.status ? params.text(name(*filter.status)) : params.null();
  params.boolean(filter.include_deleted);
  params.text_or_null(prefix ? std::string_view{} : type)
      .text_or_null(prefix ? type.substr(0, type.size() - 1) : std::string_view{});
  params.text_or_null(filter.source).text_or_null(filter.target).int8(filter.generation).uuid(filter.workspace_id);
  params.timestamptz(filter.since).timestamptz(filter.until).int4(limit + 1).uuid(filter.id);
  params.text_or_null(filter.error_class).text_or_null(filter.fingerprint);
  params.text_or_null(filter.ordering_key).text_or_null(filter.text).boolean(filter.heads_only);
  params.text_or_null(payload_condition(filter.payload)).text_or_null(filter.trace_id);
  SLUICE_TRY(const auto numbers, numbers_with(filter.status));
  if (numbers) add(params, *numbers);
  if (numbers) params.boolean(filter.oldest_first);
  const pg_sql::Query& whole = filter.oldest_first ? pg_sql::event_list_oldest : pg_sql::event_list;
  SLUICE_TRY(const pq::Rows rows,
             run(searching(numbers ? pg_sql::event_list_among : whole, filter.searches()), params));
  EventPage page;
  const int shown = std::min(rows.size(), limit);
  for (int row = 0; row < shown; ++row) page.events.push_back(event_record(rows, row));
  if (rows.size() > limit) page.next = page.events.back().seq;
  return page;
}

Result<EventRecord> PostgresStore::get_event(const Uuid& id) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::event_get), pq::Params{}.uuid(id)));
  if (rows.empty())
    return Error{ErrorCode::not_found, Retry::never, "event " + id.to_string() + " does not exist", "id", {}};
  return event_record(rows, 0);
}

Result<std::vector<Uuid>> PostgresStore::ids_from(const std::string& digits, int limit) {
  SLUICE_TRY(const IdRange range, ids_beginning(digits));
  SLUICE_TRY(const pq::Rows rows,
             run(reading(pg_sql::ids_from), pq::Params{}.uuid(range.first).uuid(range.last).int4(limit)));
  return pq::collect(rows, [&](int row) { return rows.uuid(row, 0); });
}

Result<std::vector<HandledRecord>> PostgresStore::handled(std::span<const std::string> idempotency_keys) {
  if (idempotency_keys.empty()) return std::vector<HandledRecord>{};
  pq::Params params;
  {
    pq::Params::Array keys = params.array(pq::Params::Element::text);
    for (const std::string& key : idempotency_keys) keys.text(std::string_view{key});
  }
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::handled_of), params));
  return pq::collect(rows, [&](int row) {
    return HandledRecord{{std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}}, rows.timestamptz(row, 2)};
  });
}

Result<std::vector<AuditRecord>> PostgresStore::audit_of(const Uuid& event_id) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::audit_of), pq::Params{}.uuid(event_id)));
  return pq::collect(rows, [&](int row) { return audit_record(rows, row); });
}

Result<std::vector<AttemptRecord>> PostgresStore::attempts_of(const Uuid& event_id) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::attempts_of), pq::Params{}.uuid(event_id)));
  return pq::collect(rows, [&](int row) { return attempt_record(rows, row); });
}

Result<std::optional<Uuid>> PostgresStore::key_blocker(const EventRecord& event) {
  if (!event.ordering_key) return std::optional<Uuid>{};
  pq::Params params;
  params.text(std::string_view{*event.ordering_key}).int8(event.seq).uuid(event.envelope.event_id());
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::key_blocker), params));
  return rows.optional_uuid(0, 0);
}

Result<std::vector<Deployment>> PostgresStore::deployments() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::deployment_list)));
  return pq::collect(rows, [&](int row) { return deployment_record(rows, row); });
}

Result<Deployment> PostgresStore::allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                      const Actor& actor) {
  pq::Params params;
  params.int8(wanted).text(std::string_view{note});
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::deployment_allocate), add(params, actor)));
  return deployment_record(rows, 0);
}

Result<Deployment> PostgresStore::move_generation(Generation generation, GenerationState to, const Actor& actor) {
  pq::Params params;
  params.int8(generation).text(name(to));
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::deployment_move), add(params, actor)));
  return deployment_record(rows, 0);
}

Result<std::vector<OpenPublisher>> PostgresStore::open_publishers(Generation generation) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::generation_publishers), pq::Params{}.int8(generation)));
  return pq::collect(rows, [&](int row) {
    return OpenPublisher{rows.int4(row, 0), rows.optional_text(row, 1).value_or(""),
                         rows.optional_text(row, 2).value_or(""), std::string{rows.text(row, 3)},
                         rows.optional_timestamptz(row, 4)};
  });
}

Result<std::int64_t> PostgresStore::reroute(Generation from, Generation to, int limit, const Actor& actor) {
  pq::Params params;
  params.int8(from).int8(to).int4(limit);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::reroute), add(params, actor)));
  return rows.int8(0, 0);
}

Result<Generation> PostgresStore::default_generation() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::deployment_default)));
  return rows.int8(0, 0);
}

}  // namespace sluice::store
