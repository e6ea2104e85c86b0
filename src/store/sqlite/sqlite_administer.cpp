#include <limits>

#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

/// An event as an operator's command finds it.
struct OperatorView {
  Status status = Status::pending;
  bool discarded = false;
  int attempts = 0;
  Generation generation = 0;
  int cycle = 0;
};

Error no_event(const Uuid& id) {
  return Error{ErrorCode::not_found, Retry::never, "there is no event " + id.to_string(), "id", {}};
}

Result<OperatorView> look_at(Connection& connection, const Uuid& id) {
  SLUICE_TRY(auto view, connection.first(sql::operator_view, {{":id", id}}, [](Row& row) {
    OperatorView found;
    found.status = read_status(row);
    found.discarded = row.boolean();
    found.attempts = static_cast<int>(row.integer());
    found.generation = row.integer();
    found.cycle = static_cast<int>(row.integer());
    return found;
  }));
  if (!view) return no_event(id);
  return *view;
}

Error conflict(const Uuid& id, const std::string& what) {
  return Error{ErrorCode::conflict, Retry::never, "event " + id.to_string() + " " + what, {}, {}};
}

Error not_failed(const Uuid& id, Status status, std::string_view verb) {
  return conflict(id, "is " + std::string{name(status)} + ": only a failed event can be " + std::string{verb});
}

}  // namespace

Result<EventPage> SqliteStore::list_events(const EventFilter& filter, int limit,
                                           std::optional<std::int64_t> before_seq) {
  EventPage page;
  if (limit < 1) return page;
  const sql::Query& query = filter.status == Status::failed ? sql::event_list_failed : sql::event_list;
  return database_->read([&](Connection& connection) -> Result<EventPage> {
    // One more than asked for tells whether there is a next page.
    SLUICE_CHECK(
        connection.each(query,
                        joined({{":before_seq", before_seq.value_or(std::numeric_limits<std::int64_t>::max())}},
                               event_params(filter), {{":limit", std::int64_t{limit} + 1}}),
                        [&](Row& row) { page.events.push_back(read_event(row)); }));
    if (page.events.size() > static_cast<std::size_t>(limit)) {
      page.events.pop_back();
      page.next_before = page.events.back().seq;
    }
    return std::move(page);
  });
}

Result<EventRecord> SqliteStore::get_event(const Uuid& id) {
  return database_->read([&](Connection& connection) -> Result<EventRecord> {
    SLUICE_TRY(auto event, connection.first(sql::event_get, {{":id", id}}, read_event));
    if (!event) return no_event(id);
    return *std::move(event);
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

Result<ReplayReport> SqliteStore::replay(const Uuid& id, Generation new_generation, const Actor& actor) {
  if (new_generation < kFirstGeneration) return invalid("generation", "the generation must be at least 1");
  auto replayed_as = database_->write([&](Connection& connection) -> Result<ReplayReport> {
    SLUICE_TRY(auto found, look_at(connection, id));
    if (found.status != Status::failed) return not_failed(id, found.status, "replayed");
    if (found.discarded) return conflict(id, "is discarded: restore it first");
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(sql::replay, {{":new_generation", new_generation},
                                              {":now", now},
                                              {":replayed_by", given(actor.name)},
                                              {":reason", given(actor.reason)},
                                              {":operation_id", std::nullopt},
                                              {":id", id}}));
    const ReplayReport report{id, found.cycle, found.attempts, found.generation, new_generation};
    std::string detail = "{\"cycle\":" + std::to_string(report.cycle) +
                         ",\"attempts\":" + std::to_string(report.attempts) +
                         ",\"from_generation\":" + std::to_string(report.from_generation) +
                         ",\"to_generation\":" + std::to_string(report.to_generation) + "}";
    SLUICE_CHECK(record_audit(connection, actor, {now, "replay", id, std::move(detail)}));
    return report;
  });
  if (replayed_as) bell_->notify();
  return replayed_as;
}

Result<void> SqliteStore::discard(const Uuid& id, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "discard an event"));
  return database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(auto found, look_at(connection, id));
    if (found.status != Status::failed) return not_failed(id, found.status, "discarded");
    if (found.discarded) return conflict(id, "is discarded already");
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(sql::discard, {{":now", now}, {":id", id}}));
    return record_audit(connection, actor, {now, "discard", id});
  });
}

Result<void> SqliteStore::restore(const Uuid& id, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "restore an event"));
  return database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(auto found, look_at(connection, id));
    if (found.status != Status::failed) return not_failed(id, found.status, "restored");
    if (!found.discarded) return conflict(id, "is not discarded");
    SLUICE_CHECK(connection.run(sql::restore, {{":now", clock_()}, {":id", id}}));
    return record_audit(connection, actor, {clock_(), "restore", id});
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
