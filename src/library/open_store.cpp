#include "library/open_store.hpp"

#include "core/try.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sluice::library {

Result<OpenedStore> open_store(const std::string& address, int connections) {
  SLUICE_TRY(auto url, config::parse_store_url(address, "store"));
  OpenedStore opened{url, nullptr};
  if (url.kind == config::StoreUrl::Kind::sqlite) {
    store::SqliteOptions options;
    options.path = url.location;
    auto store = store::open_sqlite(options);
    if (!store) return std::move(store).error();
    opened.store = *std::move(store);
    return opened;
  }
  store::PostgresOptions options;
  options.dsn = url.location;
  options.max_connections = connections;
  auto store = store::open_postgres(options);
  if (!store) return std::move(store).error();
  opened.store = *std::move(store);
  return opened;
}

Result<Generation> resolve_generation(std::optional<Generation> wanted, store::Administering& store) {
  if (!wanted) return store.default_generation();
  if (*wanted < kFirstGeneration) return invalid("generation", "generation must be at least 1");
  return *wanted;
}

}  // namespace sluice::library
