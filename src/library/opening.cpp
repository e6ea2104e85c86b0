#include "library/opening.hpp"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "core/generation.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
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

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}
std::string variable(const char* first, const char* second) {
  std::string value = variable(first);
  return value.empty() ? variable(second) : value;
}
// As in the daemon's configuration, `none` is nothing.
std::string broker_variable(const char* name) {
  std::string value = variable(name);
  return value == "none" ? std::string{} : value;
}

}  // namespace

Result<EnvironmentChoice> choice_from_environment() {
  EnvironmentChoice choice{variable("SLUICE_STORE", "DATABASE_URL"), std::nullopt};
  if (choice.store.empty()) {
    return invalid("SLUICE_STORE", "SLUICE_STORE is not set: it names the store, such as postgres://app@db/app");
  }
  const std::string generation = variable("SLUICE_GENERATION", "SPECTRAL_GENERATION");
  if (generation.empty()) return choice;
  SLUICE_TRY(const auto parsed, parse_generation(generation, "SLUICE_GENERATION"));
  choice.generation = parsed;
  return choice;
}

Result<BrokerAddress> broker_from_environment() {
  BrokerAddress broker;
  const std::string urls = broker_variable("SLUICE_BROKER");
  for (const std::string_view url : split(urls, ',')) {
    if (!trimmed(url).empty()) broker.urls.emplace_back(trimmed(url));
  }
  broker.user = broker_variable("SLUICE_BROKER_USER");
  broker.password = broker_variable("SLUICE_BROKER_PASSWORD");
  broker.token = broker_variable("SLUICE_BROKER_TOKEN");
  broker.credentials_file = broker_variable("SLUICE_BROKER_CREDENTIALS");
  broker.tls_ca = broker_variable("SLUICE_BROKER_TLS_CA");
  broker.tls_cert = broker_variable("SLUICE_BROKER_TLS_CERT");
  broker.tls_key = broker_variable("SLUICE_BROKER_TLS_KEY");
  broker.tls_server_name = broker_variable("SLUICE_BROKER_TLS_SERVER_NAME");
  if (auto stream = broker_variable("SLUICE_BROKER_STREAM"); !stream.empty()) broker.stream = std::move(stream);
  if (const std::string shards = broker_variable("SLUICE_BROKER_SHARDS"); !shards.empty()) {
    const auto [end, error] = std::from_chars(shards.data(), shards.data() + shards.size(), broker.shards);
    if (error != std::errc{} || end != shards.data() + shards.size() || broker.shards < 1) {
      return invalid("SLUICE_BROKER_SHARDS", "SLUICE_BROKER_SHARDS must be a whole number from 1");
    }
  }
  if (const std::string wait = broker_variable("SLUICE_BROKER_ACK_WAIT"); !wait.empty()) {
    SLUICE_TRY(broker.ack_wait, parse_duration(wait, "SLUICE_BROKER_ACK_WAIT"));
  }
  return broker;
}

telemetry::Logger make_logger(const LogSource& source, std::int64_t generation) {
  if (!source.write) return {};
  return {source.write, {}, {source.service, source.environment, generation, std::nullopt}};
}

}  // namespace sluice::library
