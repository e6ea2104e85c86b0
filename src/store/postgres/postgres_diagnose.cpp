#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/snapshot.hpp"

namespace sluice::store {
namespace {

constexpr double kMillionths = 1e6;
constexpr std::int32_t kWaitedLook = 1000;  // of a lane

std::optional<Duration> optional_duration(const pq::Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return Duration{rows.int8(row, column)};
}

/// The columns pid, application, user, state, age of the transaction and query, from `first` on.
ServerSession session_of(const pq::Rows& rows, int row, int first) {
  return {.pid = rows.int4(row, first),
          .application = std::string{rows.text(row, first + 1)},
          .user = std::string{rows.text(row, first + 2)},
          .state = std::string{rows.text(row, first + 3)},
          .transaction_age = optional_duration(rows, row, first + 4),
          .query = std::string{rows.text(row, first + 5)}};
}

XminHolder holder_of(const pq::Rows& rows, int row) {
  XminHolder holder;
  const std::string_view kind = rows.text(row, 0);
  if (kind == "prepared") holder.kind = XminHolder::Kind::prepared;
  if (kind == "slot") holder.kind = XminHolder::Kind::slot;
  holder.session = session_of(rows, row, 1);
  holder.name = rows.text(row, 7);
  holder.transactions = rows.int8(row, 8);
  return holder;
}

/// Runs one query after the other on one connection, and notes what it may not see or what takes too long.
class Look {
 public:
  Look(pq::Connection& connection, std::vector<Unseen>& unseen) : connection_(connection), unseen_(unseen) {}

  /// None: noted as unseen, or the connection is lost, which lost() tells.
  std::optional<pq::Rows> at(std::string_view what, const pg_sql::Query& query, const pq::Params& params = {}) {
    if (lost_) return std::nullopt;
    return seen(what, connection_.run(reading(query), params));
  }
  /// The same for what the planner may take for so dear that the server would compile it.
  std::optional<pq::Rows> uncompiled(std::string_view what, const pg_sql::Query& query, const pq::Params& params,
                                     Duration longest_statement) {
    if (lost_) return std::nullopt;
    return seen(what, in_snapshot(connection_, longest_statement,
                                  [&](pq::Connection& connection) { return connection.run(reading(query), params); }));
  }
  [[nodiscard]] const std::optional<Error>& lost() const { return lost_; }

 private:
  std::optional<pq::Rows> seen(std::string_view what, Result<pq::Rows> rows) {
    if (rows) return *std::move(rows);
    if (rows.error().code == ErrorCode::unavailable) {
      lost_ = rows.error();
    } else {
      unseen_.push_back({std::string{what}, rows.error()});
    }
    return std::nullopt;
  }

  pq::Connection& connection_;
  std::vector<Unseen>& unseen_;
  std::optional<Error> lost_;
};

std::optional<GrantFacts> look_at_grants(Look& look) {
  const auto roles = look.at("roles", pg_sql::diagnose_roles);
  const auto missing = look.at("grants", pg_sql::diagnose_grants);
  if (!roles || !missing) return std::nullopt;
  GrantFacts grants;
  grants.owner = roles->boolean(0, 1);
  for (int row = 1; row < roles->size(); ++row) {
    grants.roles.emplace_back(roles->text(row, 0));
    if (roles->boolean(row, 1)) grants.memberships.emplace_back(roles->text(row, 0));
  }
  grants.missing = pq::collect(*missing, [&](int row) { return std::string{missing->text(row, 0)}; });
  return grants;
}

std::optional<NotifyFacts> look_at_notify(Look& look) {
  const auto queue = look.at("the NOTIFY queue", pg_sql::diagnose_notify);
  const auto suspects = look.at("sessions in a transaction", pg_sql::diagnose_notify_suspects);
  if (!queue || !suspects) return std::nullopt;
  return NotifyFacts{static_cast<double>(queue->int8(0, 0)) / kMillionths, queue->int8(0, 1),
                     pq::collect(*suspects, [&](int row) { return session_of(*suspects, row, 0); })};
}

std::optional<LockFacts> look_at_locks(Look& look) {
  const auto locks = look.at("locks on core.outbox", pg_sql::diagnose_locks);
  if (!locks) return std::nullopt;
  return LockFacts{pq::collect(*locks, [&](int row) { return session_of(*locks, row, 0); }),
                   locks->empty() ? 0 : locks->int8(0, 6)};
}

std::optional<TableFacts> look_at_outbox(Look& look) {
  const auto table = look.at("the statistics of core.outbox", pg_sql::diagnose_outbox);
  if (!table || table->empty()) return std::nullopt;
  return TableFacts{table->int8(0, 0), table->int8(0, 1), table->int8(0, 2), table->optional_timestamptz(0, 3),
                    table->boolean(0, 4)};
}

std::optional<ServerFacts> look_at_server(Look& look, int connected_to) {
  const auto rows = look.at("the server", pg_sql::diagnose_server);
  if (!rows) return std::nullopt;
  ServerFacts server;
  server.version = rows->int4(0, 0);
  server.version_text = rows->text(0, 1);
  server.user = rows->text(0, 2);
  server.superuser = rows->boolean(0, 3);
  server.sees_all_sessions = server.superuser || rows->boolean(0, 4);
  server.standby = rows->boolean(0, 5);
  server.pooled = rows->int4(0, 6) != connected_to;
  server.locks = look_at_locks(look);
  server.notify = look_at_notify(look);
  if (const auto xmin = look.at("what pins xmin", pg_sql::diagnose_xmin)) {
    server.xmin = pq::collect(*xmin, [&](int row) { return holder_of(*xmin, row); });
  }
  server.outbox = look_at_outbox(look);
  return server;
}

std::optional<StrandedFacts> look_at_stranded(Look& look) {
  const auto rows = look.at("stranded events", pg_sql::diagnose_stranded, pq::Params{}.interval(kStrandedLook));
  if (!rows) return std::nullopt;
  StrandedFacts stranded;
  for (int row = 0; row < rows->size(); ++row) {
    // A cause that only a newer build knows is left to that build's doctor.
    const auto cause = parse_stranded_cause(rows->text(row, 0));
    if (!cause) continue;
    stranded.causes.push_back({*cause, rows->int8(row, 1), rows->uuid(row, 2), rows->timestamptz(row, 3)});
  }
  return stranded;
}

// Without statistics the server would compile it: 150 ms for finding nothing.
std::optional<ExpiredFacts> look_at_expired(Look& look, Duration longest_statement) {
  const auto rows =
      look.uncompiled("expired claims", pg_sql::diagnose_claims, pq::Params{}.int4(kExpiredLook), longest_statement);
  if (!rows) return std::nullopt;
  return ExpiredFacts{rows->int8(0, 0), rows->optional_timestamptz(0, 1)};
}

std::optional<PartitionLayout> look_at_partitions(Look& look) {
  const auto state = look.at("the partitions", pg_sql::partition_state);
  const auto rows = look.at("the partitions", pg_sql::partition_list);
  if (!state || !rows) return std::nullopt;
  return layout_of(*state, *rows);
}

}  // namespace

Result<Diagnosis> PostgresStore::diagnose(DiagnosisDepth depth) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_TRY(const pq::Rows schema, lease->run(reading(pg_sql::schema_exists)));
  Diagnosis diagnosis;
  Look eyes{*lease, diagnosis.unseen};
  diagnosis.server = look_at_server(eyes, lease->backend_pid());
  if (schema.boolean(0, 0)) {
    if (diagnosis.server && depth == DiagnosisDepth::whole) diagnosis.server->grants = look_at_grants(eyes);
    diagnosis.expired = look_at_expired(eyes, options_.longest_statement);
    if (const auto rows = eyes.at("what retention would sweep", pg_sql::diagnose_retention)) {
      diagnosis.retention = RetentionFacts{rows->optional_timestamptz(0, 0), rows->optional_timestamptz(0, 1)};
    }
    diagnosis.stranded = look_at_stranded(eyes);
    diagnosis.partitions = look_at_partitions(eyes);
  }
  if (eyes.lost()) return *eyes.lost();
  return diagnosis;
}

Result<DueBacklog> PostgresStore::due_backlog() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::diagnose_backlog)));
  return DueBacklog{rows.int8(0, 0), rows.optional_timestamptz(0, 1), rows.timestamptz(0, 2)};
}

Result<std::vector<OverdueEvent>> PostgresStore::overdue(const OverdueQuery& query) {
  const std::scoped_lock lock{walks_mutex_};
  const auto read = [&](pq::Connection& connection) -> Result<pq::Rows> {
    PendingReader pending{connection, current_walks()};
    SLUICE_CHECK(pending.read(PendingWalk::Reach::some));
    SLUICE_CHECK(pending.end());
    EventNumbers known;
    for (const auto& [generation, walk] : walks_) {
      for (const std::int64_t number : walk.found()) known.add(generation, number);
    }
    pq::Params params;
    add(params, known);
    params.interval(query.patience).interval(query.alive_within).int4(query.limit).int4(kWaitedLook);
    return connection.run(reading(pg_sql::overdue), params);
  };
  SLUICE_TRY(const pq::Rows rows, in_snapshot(pool_, options_.longest_statement, read));
  return pq::collect(rows, [&](int row) {
    return OverdueEvent{rows.uuid(row, 0),
                        std::string{rows.text(row, 1)},
                        rows.int8(row, 2),
                        rows.timestamptz(row, 3),
                        std::string{rows.text(row, 4)},
                        rows.boolean(row, 5) ? OverdueEvent::Cause::passed_over : OverdueEvent::Cause::behind};
  });
}

Result<double> PostgresStore::notify_queue_usage() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::diagnose_notify)));
  return static_cast<double>(rows.int8(0, 0)) / kMillionths;
}

}  // namespace sluice::store
