#include "store/postgres/postgres_store.hpp"

#include "core/try.hpp"
#include "pg_sql.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {

PostgresStore::PostgresStore(PostgresOptions options)
    : options_(std::move(options)),
      pool_({options_.dsn, options_.connect_timeout, options_.application_name, options_.longest_statement},
            options_.max_connections) {}

Result<void> PostgresStore::start() {
  const Result<SchemaVersion> version = schema_version();
  if (!version) return version.error();
  if (!options_.check_schema) return {};
  if (version->applied == 0) {
    return Error{ErrorCode::schema, Retry::never, "the schema is missing in " + display_name(), "store",
                 "run `sluice db migrate`"};
  }
  if (version->applied < version->known) {
    return Error{ErrorCode::schema, Retry::never,
                 "the schema is at version " + std::to_string(version->applied) + ", this build needs " +
                     std::to_string(version->known),
                 "store", "run `sluice db migrate`"};
  }
  if (version->applied > version->known) return newer_schema(*version);
  return {};
}

Result<pq::Rows> PostgresStore::run(const pq::Statement& statement, const pq::Params& params) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  return lease->run(statement, params);
}

Result<std::unique_ptr<Store>> open_postgres(const PostgresOptions& options) {
  auto store = std::make_unique<PostgresStore>(options);
  SLUICE_CHECK(store->start());
  return std::unique_ptr<Store>{std::move(store)};
}

}  // namespace sluice::store
