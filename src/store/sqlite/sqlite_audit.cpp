#include <limits>

#include "core/try.hpp"
#include "store/sqlite/event_rows.hpp"
#include "store/sqlite/filter_params.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {

Result<void> need_reason(const Actor& actor, std::string_view purpose) {
  if (!actor.reason.empty()) return {};
  return invalid("reason", "give a reason to " + std::string{purpose});
}

Result<void> record_audit(Connection& connection, const Actor& actor, const AuditEntry& entry) {
  SLUICE_CHECK(connection.run(sql::record_audit, {{":now", entry.at},
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
