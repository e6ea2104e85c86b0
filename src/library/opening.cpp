#include "library/opening.hpp"

#include <cstdlib>
#include <utility>

#include "core/generation.hpp"
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

namespace {

std::string variable(const char* first, const char* second) {
  for (const char* name : {first, second}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

Result<EnvironmentChoice> choice_from_environment() {
  EnvironmentChoice choice{variable("SLUICE_STORE", "DATABASE_URL"), std::nullopt, {}};
  std::string url;
  for (const char c : variable("SLUICE_BROKER", "SLUICE_BROKER") + ',') {
    if (c != ',') {
      url += c;
    } else if (!url.empty()) {
      choice.broker.push_back(std::exchange(url, {}));
    }
  }
  if (choice.store.empty()) {
    return invalid("SLUICE_STORE", "SLUICE_STORE is not set: it names the store, such as postgres://app@db/app");
  }
  const std::string generation = variable("SLUICE_GENERATION", "SPECTRAL_GENERATION");
  if (generation.empty()) return choice;
  SLUICE_TRY(const auto parsed, parse_generation(generation, "SLUICE_GENERATION"));
  choice.generation = parsed;
  return choice;
}

telemetry::Logger make_logger(const LogSource& source, std::int64_t generation) {
  if (!source.write) return {};
  return {source.write, {}, {source.service, source.environment, generation, std::nullopt}};
}

}  // namespace sluice::library
