#include "cli/session.hpp"

#include <istream>
#include <ostream>

#include "core/try.hpp"
#include "ops/generations.hpp"

namespace sluice::cli {
namespace {

// More than this, and a reflex is not enough.
constexpr std::int64_t kTypeTheNumber = 100;

Result<std::optional<std::string>> ask(const Session& session, const std::string& question,
                                       const std::string& expected) {
  if (session.arguments().has("--yes")) return std::optional<std::string>{};
  SLUICE_CHECK(check_answerable(session, question));
  Console& console = session.console();
  console.err << "sluice: " << printable(question) << "? [" << expected << "] " << std::flush;
  std::string answer;
  std::getline(console.in, answer);
  return std::optional{std::move(answer)};
}

}  // namespace

ops::RelaySettings relay_settings(const config::Config& config) {
  ops::RelaySettings settings;
  settings.kind = config.relay.kind();
  settings.stream.replicas = config.relay.replicas;
  settings.stream.max_age = config.relay.max_age;
  settings.shards = config.relay.shards;
  settings.ack_wait = config.relay.ack_wait;
  settings.claim_ttl = config.worker.claim_ttl;
  return settings;
}

Format format_of(const Arguments& arguments) {
  const auto wanted = arguments.value("--output").value_or("table");
  if (wanted == "json") return Format::json;
  return wanted == "ndjson" ? Format::ndjson : Format::table;
}

Session::Session(const Arguments& arguments, const config::Sources& sources, Console& console, const Adapters& adapters)
    : arguments_(arguments), sources_(sources), console_(console), adapters_(adapters), format_(format_of(arguments)) {}

OpenRequest Session::open_request(const config::Config& config, Access access, int connections) const {
  detail("store: " + config.store.display());
  OpenRequest request{config.store, false, true, connections};
  request.create = access == Access::create || access == Access::create_schema;
  request.needs_schema = access == Access::existing || access == Access::create;
  return request;
}

Result<Session::Opened> Session::open_existing() const {
  SLUICE_TRY(auto settings, config());
  SLUICE_TRY(auto store, open(settings, Access::existing));
  return Opened{std::move(settings), std::move(store)};
}

Result<Generation> Session::generation(const config::Config& config, store::Administering& store) {
  if (config.generation) return *config.generation;
  return ops::default_generation(store);
}

store::Actor Session::actor(const config::Config& config) const {
  return {config.actor, "cli", arguments_.value("--reason").value_or("")};
}

std::shared_ptr<telemetry::Exporting> Session::exporting(const config::Config& config) const {
  return adapters_.open_exporting ? adapters_.open_exporting(config) : nullptr;
}

void Session::note(std::string_view text) const {
  if (!arguments_.has("--quiet")) console_.err << "sluice: " << printable(text) << '\n';
}

void Session::detail(std::string_view text) const {
  if (arguments_.has("--verbose")) console_.err << "sluice: " << printable(text) << '\n';
}

Result<void> check_answerable(const Session& session, const std::string& purpose) {
  const bool asked = session.console().in_is_tty && !session.arguments().has("--no-input");
  if (asked || session.dry_run() || session.arguments().has("--yes")) return {};
  Error error = invalid("--yes", "not a terminal: pass --yes to " + purpose);
  error.hint = "--dry-run shows what would change";
  return error;
}

Result<bool> confirm(const Session& session, const std::string& question) {
  SLUICE_TRY(const auto answer, ask(session, question, "y/N"));
  return !answer || *answer == "y" || *answer == "Y" || *answer == "yes";
}

Result<bool> confirm_many(const Session& session, const std::string& question, std::int64_t count) {
  if (count <= kTypeTheNumber) return confirm(session, question);
  const std::string number = std::to_string(count);
  SLUICE_TRY(const auto answer, ask(session, question, "type " + number + " to go on"));
  const bool agreed = !answer || *answer == number;
  if (!agreed) session.note("not confirmed: it takes the number, " + number + ", to go on");
  return agreed;
}

Exit declined(const Session& session) {
  session.note("declined: nothing was changed");
  return Exit::declined;
}

}  // namespace sluice::cli
