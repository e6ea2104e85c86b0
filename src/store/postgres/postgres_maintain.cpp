#include <cstdlib>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

// A worker that rests looks every few seconds.
constexpr std::chrono::hours kGroupInUse{1};

std::vector<ExpiredClaim> claims_of(const pq::Rows& rows) {
  return pq::collect(rows, [&](int row) {
    ExpiredClaim expired;
    expired.claim.event_id = rows.uuid(row, 0);
    expired.claim.claim_seq = rows.int8(row, 1);
    expired.worker = rows.text(row, 2);
    expired.attempts = rows.int4(row, 3);
    expired.claim.batch = rows.int8(row, 4);
    expired.generation = rows.int8(row, 5);
    expired.claimed_at = rows.timestamptz(row, 6);
    expired.seen_at = rows.timestamptz(row, 7);
    expired.progress = progress_column(rows, row, 8);
    expired.last_error = rows.optional_text(row, 9).value_or("");
    expired.error_class = rows.optional_text(row, 10).value_or("");
    expired.fingerprint = rows.optional_text(row, 11).value_or("");
    expired.event_type = rows.text(row, 12);
    expired.target = rows.optional_text(row, 13);
    expired.channel = rows.text(row, 14);
    return expired;
  });
}

std::vector<std::int64_t> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view word : split(text, ' ')) numbers.push_back(std::atoll(std::string{word}.c_str()));
  return numbers;
}

}  // namespace

Result<std::vector<ExpiredClaim>> PostgresStore::expired_claims(int limit) {
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::expired_claims), pq::Params{}.int4(limit)));
  return claims_of(rows);
}

Result<std::vector<ExpiredClaim>> PostgresStore::claims_held_by(const std::string& identity, int limit) {
  SLUICE_TRY(const pq::Rows rows,
             run(reading(pg_sql::claims_held_by), pq::Params{}.text(std::string_view{identity}).int4(limit)));
  return claims_of(rows);
}

Result<RetentionReport> PostgresStore::sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                       const Actor& actor) {
  SLUICE_CHECK(policies.validate());
  pq::Params params;
  params.interval(policies.outbox.active).interval(policies.outbox.grace);
  params.interval(policies.event_handled.active).interval(policies.event_handled.grace).int4(limit).boolean(dry_run);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::sweep_retention), add(params, actor)));
  return RetentionReport{rows.int8(0, 0), rows.int8(0, 1), rows.int8(0, 2), rows.int8(0, 3), rows.boolean(0, 4)};
}

Result<PruneReport> PostgresStore::prune(const RetentionPolicies& policies) {
  pq::Params params;
  {
    pq::Params::Array groups = params.array(pq::Params::Element::text);
    const auto lately = std::chrono::steady_clock::now() - kGroupInUse;
    const std::scoped_lock lock{mutex_};
    for (const auto& [key, group] : scan_groups_) {
      if (group.used >= lately) groups.text(std::string_view{key});
    }
  }
  params.interval(policies.outbox.active + policies.outbox.grace);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::prune), params));
  return PruneReport{rows.int8(0, 0), rows.int8(0, 1)};
}

Result<PatrolStep> PostgresStore::patrol(const PatrolRequest& request) {
  pq::Params params;
  params.text(std::string_view{request.holder}).interval(request.lease).interval(request.overlooked_after);
  params.interval(request.settled_again).int4(request.rows);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::patrol_step), params));
  // What was healed comes first, what the step did in the last row.
  const int last = rows.size() - 1;
  PatrolStep step{rows.boolean(last, 0), rows.boolean(last, 1), rows.int8(last, 2), {}};
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.is_null(row, 3)) continue;
    const auto cause = parse_stranded_cause(rows.text(row, 4));
    if (!cause) {
      return Error{ErrorCode::schema, Retry::never, "core.patrol_step names a cause that this build does not know",
                   "cause", "upgrade sluice"};
    }
    step.healed.push_back({rows.uuid(row, 3), *cause});
  }
  return step;
}

Result<void> PostgresStore::record_ladder(const LadderSample& sample) {
  pq::Params params;
  params.int8(sample.rows);
  {
    pq::Params::Array latencies = params.array(pq::Params::Element::int8);
    for (const std::int64_t events : sample.latencies) latencies.int8(events);
  }
  params.text(sample.notify_queue ? std::optional{std::to_string(*sample.notify_queue)} : std::nullopt);
  params.int8(sample.snapshot_seconds).int8(sample.dead_rows).interval(kLadderKept);
  SLUICE_CHECK(run(writing(pg_sql::ladder_record), params));
  return {};
}

Result<std::vector<LadderSample>> PostgresStore::ladder_history() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::ladder_history), pq::Params{}.interval(kLadderKept)));
  return pq::collect(rows, [&](int row) {
    const auto number = [&](int column) {
      return rows.is_null(row, column) ? std::nullopt : std::optional{rows.int8(row, column)};
    };
    LadderSample sample{rows.timestamptz(row, 0), number(1), numbers_of(rows.text(row, 2)), {}, number(4), number(5)};
    if (const auto usage = rows.optional_text(row, 3)) sample.notify_queue = std::atof(usage->c_str());
    return sample;
  });
}

namespace {

std::string row_json(const HistoryRow& row) {
  const HistoryCounts& counts = row.counts;
  JsonObject object;
  object.time("at", row.at)
      .text("kind", name(row.series.kind))
      .text("name", row.series.name)
      .number("delivered", counts.delivered)
      .number("replayed", counts.replayed)
      .number("failed", counts.failed)
      .number("retried", counts.retried)
      .text("first", counts.first.text())
      .text("later", counts.later.text())
      .text("replays", counts.replays.text());
  if (counts.newest) object.number("newest", *counts.newest);
  if (counts.backlog) object.number("backlog", *counts.backlog);
  if (counts.lag_ms) object.number("lag_ms", *counts.lag_ms);
  return object.str();
}

Result<HistoryRow> history_row(const pq::Rows& rows, int row) {
  HistoryRow read{rows.timestamptz(row, 0), {*history_kind(rows.text(row, 1)), std::string{rows.text(row, 2)}}, {}};
  HistoryCounts& counts = read.counts;
  counts.delivered = rows.int8(row, 3);
  counts.replayed = rows.int8(row, 4);
  counts.failed = rows.int8(row, 5);
  counts.retried = rows.int8(row, 6);
  SLUICE_TRY(counts.first, DurationHistogram::parse(rows.text(row, 7)));
  SLUICE_TRY(counts.later, DurationHistogram::parse(rows.text(row, 8)));
  SLUICE_TRY(counts.replays, DurationHistogram::parse(rows.text(row, 9)));
  const auto number = [&](int column) {
    return rows.is_null(row, column) ? std::nullopt : std::optional{rows.int8(row, column)};
  };
  counts.newest = number(10);
  counts.backlog = number(11);
  counts.lag_ms = number(12);
  return read;
}

}  // namespace

Result<void> PostgresStore::record_history(std::span<const HistoryRow> rows) {
  if (rows.empty()) return {};
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const HistoryRow& row : rows) texts.push_back(row_json(row));
  pq::Params params;
  params.jsonb(json_array(texts)).interval(kHistoryMinutesKept).interval(kHistoryHoursKept);
  SLUICE_CHECK(run(writing(pg_sql::history_record), params));
  return {};
}

Result<std::vector<HistoryRow>> PostgresStore::history(const HistoryQuery& query) {
  pq::Params params;
  params.boolean(query.hourly).timestamptz(query.from).timestamptz(query.until).text(name(query.kind)).text(query.name);
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::history_list), params));
  std::vector<HistoryRow> all;
  all.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    SLUICE_TRY(auto read, history_row(rows, row));
    all.push_back(std::move(read));
  }
  return all;
}

}  // namespace sluice::store
