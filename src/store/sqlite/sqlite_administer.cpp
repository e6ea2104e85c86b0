#include <limits>

#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
Result<EventPage> SqliteStore::list_events(const EventFilter& filter, int limit, std::optional<std::int64_t> after) {
  EventPage page;
  if (limit < 1) return page;
  const bool failed = filter.status == Status::failed;
  const sql::Query& newest = failed ? sql::event_list_failed : sql::event_list;
  const sql::Query& query = !filter.oldest_first ? newest
                            : failed             ? sql::event_list_failed_oldest
                                                 : sql::event_list_oldest;
  const Param place = filter.oldest_first
                          ? Param{":after_seq", after.value_or(0)}
                          : Param{":before_seq", after.value_or(std::numeric_limits<std::int64_t>::max())};
  return database_->read([&](Connection& connection) -> Result<EventPage> {
    // One more than asked for tells whether there is a next page.
    SLUICE_CHECK(connection.each(query,
                                 joined({{":heads_only", filter.heads_only}, place}, event_params(filter),
                                        {{":limit", std::int64_t{limit} + 1}}),
                                 [&](Row& row) { page.events.push_back(read_event(row)); }));
    if (page.events.size() > static_cast<std::size_t>(limit)) {
      page.events.pop_back();
      page.next = page.events.back().seq;
    }
    return std::move(page);
  });
}

Result<EventRecord> SqliteStore::get_event(const Uuid& id) {
  return database_->read([&](Connection& connection) { return find_event(connection, id); });
}

Result<std::vector<Uuid>> SqliteStore::ids_from(const std::string& digits, int limit) {
  SLUICE_TRY(const IdRange range, ids_beginning(digits));
  return database_->read([&](Connection& connection) -> Result<std::vector<Uuid>> {
    std::vector<Uuid> ids;
    SLUICE_CHECK(connection.each(sql::ids_from,
                                 {{":first", range.first}, {":last", range.last}, {":limit", std::int64_t{limit}}},
                                 [&](Row& row) { ids.push_back(row.uuid()); }));
    return ids;
  });
}

Result<std::vector<HandledRecord>> SqliteStore::handled(std::span<const std::string> idempotency_keys) {
  return database_->read([&](Connection& connection) -> Result<std::vector<HandledRecord>> {
    std::vector<HandledRecord> records;
    for (const std::string& key : idempotency_keys) {
      SLUICE_CHECK(connection.each(sql::handled_of, {{":idempotency_key", key}}, [&](Row& row) {
        std::string handler_name = row.text();
        std::string idempotency_key = row.text();
        records.push_back({{std::move(handler_name), std::move(idempotency_key)}, row.timestamp()});
      }));
    }
    return records;
  });
}

Result<std::optional<Uuid>> SqliteStore::key_blocker(const EventRecord& event) {
  if (!event.ordering_key) return std::optional<Uuid>{};
  return database_->read([&](Connection& connection) {
    return connection.first(sql::key_blocker, {{":ordering_key", *event.ordering_key}, {":seq", event.seq}},
                            [](Row& row) { return row.uuid(); });
  });
}

Result<StoreStatus> SqliteStore::status() {
  return database_->read([&](Connection& connection) -> Result<StoreStatus> {
    StoreStatus status;
    status.now = clock_();
    SLUICE_CHECK(connection.each(sql::status_counts, {{":now", status.now}}, [&](Row& row) {
      StatusCount count;
      count.generation = row.integer();
      count.status = read_status(row);
      count.count = row.integer();
      count.waiting = row.integer();
      count.oldest = row.optional_timestamp();
      status.counts.push_back(count);
    }));
    SLUICE_TRY(auto discarded, connection.first(sql::status_discarded, {}, [](Row& row) { return row.integer(); }));
    status.discarded = discarded.value_or(0);
    return status;
  });
}

Result<void> need_reason(const Actor& actor, std::string_view purpose) {
  if (!actor.reason.empty()) return {};
  return invalid("reason", "give a reason to " + std::string{purpose});
}

Result<void> record_audit(Connection& connection, const Actor& actor, const AuditEntry& entry) {
  SLUICE_CHECK(connection.run(sql::audit_record, {{":now", entry.at},
                                                  {":actor", actor.name},
                                                  {":surface", actor.surface},
                                                  {":reason", actor.reason},
                                                  {":action", entry.action},
                                                  {":event_id", entry.event_id},
                                                  {":count", entry.count},
                                                  {":detail", entry.detail}}));
  return {};
}

Result<std::vector<AuditRecord>> SqliteStore::audit_of(const Uuid& event_id) {
  return database_->read([&](Connection& connection) -> Result<std::vector<AuditRecord>> {
    std::vector<AuditRecord> records;
    SLUICE_CHECK(connection.each(sql::audit_of, {{":event_id", event_id}},
                                 [&](Row& row) { records.push_back(read_audit(row)); }));
    return records;
  });
}

Result<std::vector<AttemptRecord>> SqliteStore::attempts_of(const Uuid& event_id) {
  return database_->read([&](Connection& connection) -> Result<std::vector<AttemptRecord>> {
    std::vector<AttemptRecord> records;
    SLUICE_CHECK(connection.each(sql::attempts_of, {{":event_id", event_id}},
                                 [&](Row& row) { records.push_back(read_attempt(row)); }));
    return records;
  });
}

Result<std::vector<AuditRecord>> SqliteStore::audit(const AuditFilter& filter, int limit,
                                                    std::optional<std::int64_t> before_id) {
  std::vector<AuditRecord> records;
  if (limit < 1) return records;
  return database_->read([&](Connection& connection) -> Result<std::vector<AuditRecord>> {
    SLUICE_CHECK(connection.each(sql::audit_list,
                                 {{":before_id", before_id.value_or(std::numeric_limits<std::int64_t>::max())},
                                  {":actor", given(filter.actor)},
                                  {":surface", given(filter.surface)},
                                  {":action", exactly(filter.action)},
                                  {":action_prefix", prefix_of(filter.action)},
                                  {":event_id", filter.event_id},
                                  {":since", filter.since},
                                  {":until", filter.until},
                                  {":limit", limit}},
                                 [&](Row& row) { records.push_back(read_audit(row)); }));
    return std::move(records);
  });
}

}  // namespace sluice::store::sqlite
