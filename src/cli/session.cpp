#include "cli/session.hpp"

#include <ostream>

#include "ops/generations.hpp"

namespace sluice::cli {

Format format_of(const Arguments& arguments) {
  const auto wanted = arguments.value("--output").value_or("table");
  if (wanted == "json") return Format::json;
  return wanted == "ndjson" ? Format::ndjson : Format::table;
}

Session::Session(const Arguments& arguments, const config::Sources& sources, Console& console, const Adapters& adapters)
    : arguments_(arguments), sources_(sources), console_(console), adapters_(adapters), format_(format_of(arguments)) {}

Result<std::unique_ptr<store::Store>> Session::open(const config::Config& config, Access access,
                                                    int connections) const {
  detail("store: " + config.store.display());
  OpenRequest request{config.store, false, true, connections};
  request.create = access == Access::create || access == Access::create_schema;
  request.needs_schema = access == Access::existing || access == Access::create;
  return adapters_.open_store(request);
}

Result<Session::Opened> Session::open_existing() const {
  auto settings = config();
  if (!settings) return std::move(settings).error();
  auto store = open(*settings, Access::existing);
  if (!store) return std::move(store).error();
  return Opened{*std::move(settings), *std::move(store)};
}

Result<Generation> Session::generation(const config::Config& config, store::Administering& store) {
  if (config.generation) return *config.generation;
  return ops::default_generation(store);
}

store::Actor Session::actor(const config::Config& config) const {
  return {config.actor, "cli", arguments_.value("--reason").value_or("")};
}

void Session::note(std::string_view text) const {
  if (!arguments_.has("--quiet")) console_.err << "sluice: " << printable(text) << '\n';
}

void Session::detail(std::string_view text) const {
  if (arguments_.has("--verbose")) console_.err << "sluice: " << printable(text) << '\n';
}

}  // namespace sluice::cli
