#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

FailureGroup read_group(Row& row) {
  FailureGroup group;
  group.event_type = row.text();
  group.source = row.text();
  group.target = row.optional_text();
  group.error_class = row.text();
  group.fingerprint = row.text();
  group.sample_error = row.text();
  group.count = row.integer();
  group.first_failed_at = row.timestamp();
  group.last_failed_at = row.timestamp();
  group.first_generation = row.integer();
  group.last_generation = row.integer();
  group.first_seen_at = row.timestamp();
  group.replayed = row.integer();
  group.acknowledged_at = row.optional_timestamp();
  group.acknowledged_by = row.text();
  group.acknowledged_reason = row.text();
  group.came_back = row.integer();
  group.came_back_generation = row.optional_integer();
  return group;
}

Error never_failed(const std::string& fingerprint) {
  return {ErrorCode::not_found, Retry::never, "nothing ever failed with the fingerprint '" + fingerprint + "'",
          "fingerprint", "list the fingerprints: sluice dlq groups"};
}

std::string fingerprint_detail(const std::string& fingerprint) {
  return "{\"fingerprint\":" + json::quote(fingerprint) + "}";
}

}  // namespace

Result<DeadPage> SqliteStore::list_dead(const EventFilter& filter, int limit, const std::optional<DeadCursor>& after) {
  DeadPage page;
  if (limit < 1) return page;
  return database_->read([&](Connection& connection) -> Result<DeadPage> {
    // One more than asked for tells whether there is a next page.
    SLUICE_CHECK(
        connection.each(filter.oldest_first ? sql::dead_list_oldest : sql::dead_list,
                        joined(joined(group_params(filter), {{":heads_only", filter.heads_only}}),
                               filter.oldest_first ? oldest_dead_params(filter, after) : dead_params(filter, after),
                               {{":limit", std::int64_t{limit} + 1}}),
                        [&](Row& row) { page.events.push_back(read_event(row)); }));
    if (page.events.size() > static_cast<std::size_t>(limit)) {
      page.events.pop_back();
      page.next = DeadCursor{page.events.back().failed_at.value_or(Timestamp{}), page.events.back().seq};
    }
    return std::move(page);
  });
}

Result<std::int64_t> SqliteStore::count_dead(const EventFilter& filter, std::int64_t limit) {
  if (limit < 1) return 0;
  return database_->read([&](Connection& connection) -> Result<std::int64_t> {
    SLUICE_TRY(auto counted,
               connection.first(sql::dead_count, joined(group_params(filter), dead_params(filter), {{":limit", limit}}),
                                [](Row& row) { return row.integer(); }));
    return counted.value_or(0);
  });
}

Result<std::int64_t> SqliteStore::count_unacknowledged(std::int64_t limit) {
  if (limit < 1) return 0;
  return database_->read([&](Connection& connection) -> Result<std::int64_t> {
    SLUICE_TRY(auto counted,
               connection.first(sql::dead_unacknowledged, {{":limit", limit}}, [](Row& row) { return row.integer(); }));
    return counted.value_or(0);
  });
}

Result<std::int64_t> SqliteStore::count_dead_ahead(const Uuid& operation_id, const EventFilter& filter,
                                                   std::int64_t limit) {
  if (limit < 1) return 0;
  return database_->read([&](Connection& connection) -> Result<std::int64_t> {
    SLUICE_TRY(
        auto counted,
        connection.first(sql::dead_count_ahead,
                         joined(joined(group_params(filter), {{":operation_id", operation_id}, {":limit", limit}}),
                                dead_params(filter)),
                         [](Row& row) { return row.integer(); }));
    return counted.value_or(0);
  });
}

Result<std::vector<std::string>> SqliteStore::fingerprints(const std::string& prefix, int limit) {
  return database_->read([&](Connection& connection) -> Result<std::vector<std::string>> {
    std::vector<std::string> found;
    SLUICE_CHECK(connection.each(sql::failure_fingerprints, {{":prefix", prefix}, {":limit", std::int64_t{limit}}},
                                 [&](Row& row) { found.push_back(row.text()); }));
    return found;
  });
}

Result<std::vector<FailureGroup>> SqliteStore::failure_groups(const EventFilter& filter) {
  return database_->read([&](Connection& connection) -> Result<std::vector<FailureGroup>> {
    std::vector<FailureGroup> groups;
    SLUICE_CHECK(connection.each(sql::failure_groups, joined(group_params(filter), dead_params(filter)),
                                 [&](Row& row) { groups.push_back(read_group(row)); }));
    return groups;
  });
}

Result<std::vector<std::int64_t>> SqliteStore::failure_histogram(const EventFilter& filter, const HistogramGrid& grid) {
  using std::chrono::seconds;
  const EventFilter framed = within(filter, grid);
  return database_->read([&](Connection& connection) -> Result<std::vector<std::int64_t>> {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.stretches));
    SLUICE_CHECK(
        connection.each(sql::failure_histogram,
                        joined(group_params(framed), dead_params(framed),
                               {{":from", std::chrono::duration_cast<seconds>(grid.from.time_since_epoch()).count()},
                                {":step", std::chrono::duration_cast<seconds>(grid.step).count()}}),
                        [&](Row& row) {
                          const auto place = static_cast<std::size_t>(row.integer());
                          counts.at(place) = row.integer();
                        }));
    return counts;
  });
}

Result<std::vector<AuditRecord>> SqliteStore::audit_of_group(const std::string& fingerprint, int limit) {
  return database_->read([&](Connection& connection) -> Result<std::vector<AuditRecord>> {
    std::vector<AuditRecord> records;
    SLUICE_CHECK(connection.each(sql::audit_of_group, {{":fingerprint", fingerprint}, {":limit", limit}},
                                 [&](Row& row) { records.push_back(read_audit(row)); }));
    return records;
  });
}

Result<std::int64_t> SqliteStore::note(const std::string& fingerprint, const Actor& author) {
  if (auto reason = need_reason(author, "add a note"); !reason) return std::move(reason).error();
  return database_->write([&](Connection& connection) -> Result<std::int64_t> {
    SLUICE_TRY(const auto groups, connection.first(sql::failure_group_count, {{":fingerprint", fingerprint}},
                                                   [](Row& row) { return row.integer(); }));
    if (groups.value_or(0) == 0) return never_failed(fingerprint);
    SLUICE_CHECK(
        record_audit(connection, author, {clock_(), "note", std::nullopt, fingerprint_detail(fingerprint), *groups}));
    return *groups;
  });
}

Result<std::int64_t> SqliteStore::acknowledge(const std::string& fingerprint, bool known, const Actor& actor) {
  if (auto reason = need_reason(actor, known ? "acknowledge a failure" : "take an acknowledgement back"); !reason) {
    return std::move(reason).error();
  }
  return database_->write([&](Connection& connection) -> Result<std::int64_t> {
    const Timestamp now = clock_();
    auto marked = connection.run(sql::failure_acknowledge, {{":at", known ? std::optional{now} : std::nullopt},
                                                            {":by", known ? std::string_view{actor.name} : ""},
                                                            {":reason", known ? std::string_view{actor.reason} : ""},
                                                            {":fingerprint", fingerprint}});
    if (!marked) return std::move(marked).error();
    if (*marked == 0) return never_failed(fingerprint);
    SLUICE_CHECK(record_audit(
        connection, actor,
        {now, known ? "acknowledge" : "unacknowledge", std::nullopt, fingerprint_detail(fingerprint), *marked}));
    return *marked;
  });
}

}  // namespace sluice::store::sqlite
