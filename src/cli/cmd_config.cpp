// sluice config: which settings are used, and why.
#include <cstdint>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::cli {
namespace {

std::string to_json(const config::Key& key, const config::Candidate& candidate) {
  return JsonObject{}
      .text("value", config::shown(key, candidate.value))
      .text("origin", name(candidate.origin))
      .text("where", candidate.where)
      .str();
}

std::string to_json(const config::Setting& setting) {
  return JsonObject{}
      .text("key", setting.key->name)
      .text("value", config::shown(*setting.key, setting.winner().value))
      .text("origin", name(setting.winner().origin))
      .text("where", setting.winner().where)
      .str();
}

Result<Exit> show_config(Session& session) {
  SLUICE_TRY(const auto settings, config::gather(session.sources()));
  // A value that cannot be used is an error here too, not a line in a table.
  SLUICE_CHECK(config::resolve(settings));
  std::vector<std::string> texts;
  Table table{"KEY", "VALUE", "FROM"};
  for (const auto& setting : settings.all) {
    texts.push_back(to_json(setting));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row(
        {std::string{setting.key->name}, config::shown(*setting.key, setting.winner().value), setting.winner().where});
  }
  if (session.format() == Format::json) {
    session.out() << JsonObject{}.text("file", settings.file).array("settings", texts).str() << '\n';
  }
  if (session.format() == Format::table) table.print(session.console());
  return Exit::ok;
}

void print_explanation(const Session& session, const config::Setting& setting) {
  const config::Key& key = *setting.key;
  std::ostream& out = session.out();
  out << key.name << " = " << printable(config::shown(key, setting.winner().value)) << "\n  " << key.description
      << "\n\n";
  Table table{"", "FROM", "WHERE", "VALUE"};
  for (const auto& candidate : setting.candidates) {
    const bool wins = &candidate == &setting.winner();
    table.row({wins ? "wins" : "loses", std::string{name(candidate.origin)}, candidate.where,
               config::shown(key, candidate.value)});
  }
  table.print(session.console());
}

// Works for a value that cannot be used, because that is when it is needed most.
Result<Exit> explain(Session& session) {
  const std::string& wanted = session.arguments().positionals.front();
  SLUICE_TRY(const auto settings, config::gather(session.sources()));
  const config::Setting& setting = settings.of(wanted);
  const config::Key& key = *setting.key;
  if (session.format() == Format::table) {
    print_explanation(session, setting);
    return Exit::ok;
  }
  std::vector<std::string> losers;
  for (const auto& candidate : setting.candidates) {
    if (&candidate != &setting.winner()) losers.push_back(to_json(key, candidate));
  }
  session.out() << JsonObject{}
                       .text("key", key.name)
                       .text("description", key.description)
                       .raw("winner", to_json(key, setting.winner()))
                       .array("losers", losers)
                       .str()
                << '\n';
  return Exit::ok;
}

// All that a daemon would need of it, its secrets in the environment included.
Result<Exit> validate_config(Session& session) {
  config::Sources sources = session.sources();
  if (const auto& given = session.arguments().positionals; !given.empty()) sources.file = given.front();
  SLUICE_TRY(const auto settings, config::gather(sources));
  auto config = config::resolve(settings);
  if (!config) return std::move(config).error();
  const config::Declarations& declared = config->declared;
  if (declared.missing) return *declared.missing;
  if (session.format() == Format::table) {
    session.out() << (settings.file ? printable(*settings.file) + " is valid: "
                                    : "there is no configuration file; the settings are valid: ")
                  << counted(std::ssize(declared.sinks), "sink") << ", "
                  << counted(std::ssize(declared.subscriptions), "subscription") << ", "
                  << counted(std::ssize(declared.hooks), "hook") << ", "
                  << counted(std::ssize(declared.tokens), "token") << '\n';
    return Exit::ok;
  }
  const auto number = [](const auto& things) { return static_cast<std::int64_t>(things.size()); };
  session.out() << JsonObject{}
                       .boolean("valid", true)
                       .text("file", settings.file)
                       .number("sinks", number(declared.sinks))
                       .number("subscriptions", number(declared.subscriptions))
                       .number("hooks", number(declared.hooks))
                       .number("tokens", number(declared.tokens))
                       .str()
                << '\n';
  return Exit::ok;
}

}  // namespace

std::vector<Command> config_commands() {
  return {
      {{"config", "show"},
       "every setting, its value and where it comes from",
       {{"sluice config show", ""}, {"sluice config show --config sluice.toml -o json", ""}},
       {},
       {},
       false,
       false,
       show_config},
      {{"config", "explain"},
       "why a setting has its value: which source wins, and what it overrides",
       {{"sluice config explain store", ""}},
       {{"KEY", "a key of `sluice config show`", true, config::key_names()}},
       {},
       false,
       false,
       explain},
      {{"config", "validate"},
       "check a configuration file, and tell line and column of the first error",
       {{"sluice config validate", "the file that would be used here"}, {"sluice config validate sluice.toml", ""}},
       {{"FILE", "a configuration file; default: the one that would be used", false}},
       {},
       false,
       false,
       validate_config},
  };
}

}  // namespace sluice::cli
