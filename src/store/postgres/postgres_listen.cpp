#include <random>

#include "core/try.hpp"
#include "store/postgres/postgres_ear.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

// Only this ear's, so that nobody else is woken by its probes.
std::string fresh_probe_channel() {
  std::random_device random;
  return "sluice_probe_" + std::to_string(random()) + "_" + std::to_string(random());
}

}  // namespace

Result<std::unique_ptr<ListenerConnection>> PostgresStore::listen(const std::vector<std::string>& channels) {
  for (const std::string& channel : channels) {
    SLUICE_CHECK(check_channel(channel));
  }
  return PostgresEar::open({{options_.dsn, options_.connect_timeout, options_.application_name + " listener"},
                            channels,
                            fresh_probe_channel(),
                            options_.at_doorbell_step},
                           pool_);
}

Result<DoorbellMode> PostgresStore::doorbell() {
  SLUICE_TRY(const pq::Rows mode, run(reading(pg_sql::doorbell_mode)));
  return mode.text(0, 0) == name(DoorbellMode::when_idle) ? DoorbellMode::when_idle : DoorbellMode::always;
}

Result<void> PostgresStore::set_doorbell(DoorbellMode mode, const Actor& actor) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  const auto undo = [&](Error error) {
    static_cast<void>(lease->script("rollback").has_value());
    return error;
  };
  const pg_sql::Query& change = mode == DoorbellMode::always ? pg_sql::doorbell_always : pg_sql::doorbell_when_idle;
  if (Result<void> changed = lease->script(change.text); !changed) return undo(changed.error());
  pq::Params params;
  const Result<pq::Rows> audited =
      lease->run_unprepared(writing(pg_sql::doorbell_audit), add(params, actor).text(name(mode)));
  if (!audited) return undo(audited.error());
  return lease->commit();
}

}  // namespace sluice::store
