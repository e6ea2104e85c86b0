// The PostgreSQL store: core.outbox and its functions, behind the seam.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

struct pg_conn;

namespace sluice::store {

struct PostgresOptions {
  std::string dsn;          ///< postgres:// URL or keyword form
  int max_connections = 8;  ///< callers beyond that wait
  Duration connect_timeout = std::chrono::seconds{5};
  std::string application_name = "sluice";
  Duration longest_statement{};  ///< a statement that takes longer is given up as a timeout; zero: never
  /// How often the claim scan looks again for events that were committed late. Zero: at each claim.
  Duration sweep_interval = std::chrono::seconds{1};
  /// Where a look back takes longer, the next ones look only where something can have come since.
  Duration dear_look = std::chrono::milliseconds{20};
  /// Called at each step of a listening process's way to sleep (doorbell when-idle), on its thread.
  std::function<void(std::string_view step)> at_doorbell_step;
  bool check_schema = true;  ///< refuse a schema that is missing, older or newer than this build
};

/// Publishes on the caller's own connection, within the caller's own transaction, which must be open. Nothing
/// is committed here.
Result<std::vector<PublishOutcome>> publish_on(pg_conn* connection, std::span<const NewEvent> events);

/// Connects once, so that a wrong address or password is an error here and not later.
Result<std::unique_ptr<Store>> open_postgres(const PostgresOptions& options);

/// The migrations as this build carries them, in order; needs no store.
std::vector<MigrationText> postgres_migrations();

}  // namespace sluice::store
