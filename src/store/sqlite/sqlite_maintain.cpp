#include <cstdlib>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

/// One kind of row that retention takes: how to count a batch and how to take it.
struct Sweep {
  const sql::Query& count;
  const sql::Query& take;
  Timestamp cutoff;
  bool stamps = false;  ///< taking writes the time instead of deleting
};

struct Swept {
  std::int64_t rows = 0;
  std::int64_t failed = 0;
};

struct Batch {
  Timestamp now;
  int limit = 0;
  bool dry_run = false;
};

Result<Swept> sweep(Connection& connection, const Sweep& kind, const Batch& batch) {
  SLUICE_TRY(auto counted,
             connection.first(kind.count, {{":cutoff", kind.cutoff}, {":limit", batch.limit}}, [](Row& row) -> Swept {
               const std::int64_t rows = row.integer();
               return {rows, row.integer()};
             }));
  if (!batch.dry_run) {
    SLUICE_CHECK(kind.stamps ? connection.run(kind.take,
                                              {{":now", batch.now}, {":cutoff", kind.cutoff}, {":limit", batch.limit}})
                             : connection.run(kind.take, {{":cutoff", kind.cutoff}, {":limit", batch.limit}}));
  }
  return *counted;
}

std::string detail_of(const RetentionReport& report) {
  return "{\"outbox_tombstoned\":" + std::to_string(report.outbox_tombstoned) +
         ",\"outbox_deleted\":" + std::to_string(report.outbox_deleted) +
         ",\"failed_swept\":" + std::to_string(report.failed_swept) +
         ",\"handled_deleted\":" + std::to_string(report.handled_deleted) + "}";
}

ExpiredClaim claim_in(Row& row, Timestamp now) {
  ExpiredClaim claim;
  claim.claim.event_id = row.uuid();
  claim.claim.claim_seq = row.integer();
  claim.worker = row.text();
  claim.attempts = static_cast<int>(row.integer());
  claim.generation = row.integer();
  claim.claimed_at = row.optional_timestamp().value_or(now);
  claim.seen_at = now;
  claim.progress = read_progress(row);
  claim.last_error = row.text();
  claim.error_class = row.text();
  claim.fingerprint = row.text();
  claim.event_type = row.text();
  claim.target = row.optional_text();
  claim.channel = row.text();
  return claim;
}

}  // namespace

Result<std::vector<ExpiredClaim>> SqliteStore::expired_claims(int limit) {
  return database_->read([&](Connection& connection) -> Result<std::vector<ExpiredClaim>> {
    std::vector<ExpiredClaim> expired;
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.each(sql::expired_claims, {{":now", now}, {":limit", limit}},
                                 [&](Row& row) { expired.push_back(claim_in(row, now)); }));
    return expired;
  });
}

Result<std::vector<ExpiredClaim>> SqliteStore::claims_held_by(const std::string& identity, int limit) {
  return database_->read([&](Connection& connection) -> Result<std::vector<ExpiredClaim>> {
    std::vector<ExpiredClaim> held;
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.each(sql::claims_held_by, {{":identity", identity}, {":limit", limit}},
                                 [&](Row& row) { held.push_back(claim_in(row, now)); }));
    return held;
  });
}

Result<RetentionReport> SqliteStore::sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                     const Actor& actor) {
  SLUICE_CHECK(policies.validate());
  if (limit < 1) return invalid("limit", "the batch limit of a retention sweep must be at least 1");
  const auto work = [&](Connection& connection) -> Result<RetentionReport> {
    const Batch batch{clock_(), limit, dry_run};
    // Deleting goes before tombstoning: what this call tombstones has its whole grace before it. Dedup rows go first of
    // all: those of an event that this call deletes stay until the next, so that a dry run counts the same.
    const Sweep tombstones{sql::retention_count_deletable, sql::retention_delete, batch.now - policies.outbox.grace};
    const Sweep finished{sql::retention_count_expired, sql::retention_tombstone, batch.now - policies.outbox.active,
                         true};
    const Sweep dedup{sql::retention_count_handled, sql::retention_delete_handled,
                      batch.now - policies.event_handled.active - policies.event_handled.grace};
    SLUICE_TRY(auto handled, sweep(connection, dedup, batch));
    SLUICE_TRY(auto deleted, sweep(connection, tombstones, batch));
    SLUICE_TRY(auto tombstoned, sweep(connection, finished, batch));
    const std::int64_t full = limit;
    const RetentionReport report{.outbox_tombstoned = tombstoned.rows,
                                 .outbox_deleted = deleted.rows,
                                 .failed_swept = deleted.failed + tombstoned.failed,
                                 .handled_deleted = handled.rows,
                                 .more = deleted.rows == full || tombstoned.rows == full || handled.rows == full};
    if (dry_run || deleted.rows + tombstoned.rows + handled.rows == 0) return report;
    SLUICE_CHECK(record_audit(connection, actor,
                              {batch.now, "retention.sweep", std::nullopt, detail_of(report),
                               report.outbox_tombstoned + report.outbox_deleted}));
    return report;
  };
  return dry_run ? database_->read(work) : database_->write(work);
}

// The claim scan of this store keeps no marks.
Result<PruneReport> SqliteStore::prune(const RetentionPolicies& policies) {
  return database_->write([&](Connection& connection) -> Result<PruneReport> {
    const Timestamp before = clock_() - policies.outbox.active - policies.outbox.grace;
    SLUICE_TRY(auto gone, connection.run(sql::prune_failures, {{":before", before}}));
    return PruneReport{.failure_groups = gone};
  });
}

namespace {

LadderSample read_sample(Row& row) {
  LadderSample sample{row.timestamp(), row.optional_integer(), {}, {}, {}, {}};
  const std::string latencies = row.text();
  const auto counts = json::elements(latencies, "latencies");
  if (!counts) {
    row.damaged("latencies " + latencies);
    return sample;
  }
  for (const std::string_view count : *counts) sample.latencies.push_back(std::atoll(std::string{count}.c_str()));
  return sample;
}

}  // namespace

// Read and written in one transaction: two processes that add to one hour take turns.
Result<void> SqliteStore::record_ladder(const LadderSample& sample) {
  return database_->write(Durability::lazy, [&](Connection& connection) -> Result<void> {
    const Timestamp now = clock_();
    const Timestamp hour = std::chrono::floor<std::chrono::hours>(now);
    SLUICE_TRY(auto found, connection.first(sql::ladder_sample, {{":hour", hour}}, read_sample));
    LadderSample sum = found.value_or(LadderSample{});
    add(sum, sample);
    std::vector<std::string> latencies;
    for (const std::int64_t events : sum.latencies) latencies.push_back(std::to_string(events));
    SLUICE_CHECK(connection.run(sql::ladder_save,
                                {{":hour", hour}, {":rows", sum.rows}, {":latencies", json_array(latencies)}}));
    SLUICE_CHECK(connection.run(sql::ladder_forget, {{":oldest", now - kLadderKept}, {":newest", now + kLadderKept}}));
    return {};
  });
}

Result<std::vector<LadderSample>> SqliteStore::ladder_history() {
  return database_->read([&](Connection& connection) -> Result<std::vector<LadderSample>> {
    std::vector<LadderSample> samples;
    SLUICE_CHECK(connection.each(sql::ladder_history, {{":since", clock_() - kLadderKept}},
                                 [&](Row& row) { samples.push_back(read_sample(row)); }));
    return samples;
  });
}

namespace {

DurationHistogram read_histogram(Row& row) {
  const std::string text = row.text();
  auto histogram = DurationHistogram::parse(text);
  if (!histogram) row.damaged("histogram " + text);
  return histogram ? *std::move(histogram) : DurationHistogram{};
}

HistoryRow read_history_row(Row& row) {
  HistoryRow read;
  read.at = row.timestamp();
  read.series.kind = history_kind(row.text()).value_or(HistoryKind::all);
  read.series.name = row.text();
  HistoryCounts& counts = read.counts;
  counts.delivered = row.integer();
  counts.replayed = row.integer();
  counts.failed = row.integer();
  counts.retried = row.integer();
  counts.first = read_histogram(row);
  counts.later = read_histogram(row);
  counts.replays = read_histogram(row);
  counts.newest = row.optional_integer();
  counts.backlog = row.optional_integer();
  counts.lag_ms = row.optional_integer();
  return read;
}

// Read and written in one transaction: two processes that add to one minute take turns.
Result<void> add_history(Connection& connection, const HistoryRow& row, bool hourly, Timestamp at) {
  const std::string_view kind = name(row.series.kind);
  const std::string& series = row.series.name;
  SLUICE_TRY(auto found,
             connection.first(sql::history_get, {{":hourly", hourly}, {":at", at}, {":kind", kind}, {":name", series}},
                              read_history_row));
  HistoryCounts sum = found ? std::move(found->counts) : HistoryCounts{};
  sum.add(row.counts);
  const std::string first = sum.first.text();
  const std::string later = sum.later.text();
  const std::string replays = sum.replays.text();
  SLUICE_CHECK(connection.run(sql::history_save, {{":hourly", hourly},
                                                  {":at", at},
                                                  {":kind", kind},
                                                  {":name", series},
                                                  {":delivered", sum.delivered},
                                                  {":replayed", sum.replayed},
                                                  {":failed", sum.failed},
                                                  {":retried", sum.retried},
                                                  {":first", first},
                                                  {":later", later},
                                                  {":replays", replays},
                                                  {":newest", sum.newest},
                                                  {":backlog", sum.backlog},
                                                  {":lag_ms", sum.lag_ms}}));
  return {};
}

}  // namespace

Result<void> SqliteStore::record_history(std::span<const HistoryRow> rows) {
  if (rows.empty()) return {};
  return database_->write(Durability::lazy, [&](Connection& connection) -> Result<void> {
    for (const HistoryRow& row : rows) {
      SLUICE_CHECK(add_history(connection, row, false, std::chrono::floor<std::chrono::minutes>(row.at)));
      SLUICE_CHECK(add_history(connection, row, true, std::chrono::floor<std::chrono::hours>(row.at)));
    }
    const Timestamp now = clock_();
    for (const auto& [hourly, kept] : {std::pair{false, kHistoryMinutesKept}, std::pair{true, kHistoryHoursKept}}) {
      SLUICE_CHECK(
          connection.run(sql::history_forget, {{":hourly", hourly}, {":oldest", now - kept}, {":newest", now + kept}}));
    }
    return {};
  });
}

Result<std::vector<HistoryRow>> SqliteStore::history(const HistoryQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::vector<HistoryRow>> {
    std::vector<HistoryRow> rows;
    SLUICE_CHECK(connection.each(sql::history_list,
                                 {{":hourly", query.hourly},
                                  {":from", query.from},
                                  {":until", query.until},
                                  {":kind", name(query.kind)},
                                  {":name", query.name}},
                                 [&](Row& row) { rows.push_back(read_history_row(row)); }));
    return rows;
  });
}

}  // namespace sluice::store::sqlite
