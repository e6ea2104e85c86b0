// sluice filter: filters that the team keeps under a name.
#include <ostream>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/search.hpp"

namespace sluice::cli {
namespace {

Result<Exit> list_filters(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto saved, ops::list_filters(*opened.store));
  if (session.format() == Format::json) session.out() << ops::to_json(saved) << '\n';
  Table table{"NAME", "FILTER", "BY", "SAVED"};
  for (const auto& one : saved) {
    if (session.format() == Format::ndjson) session.out() << ops::to_json(one) << '\n';
    table.row({one.name, one.filter, one.saved_by, clock_text(one.saved_at)});
  }
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  if (saved.empty()) session.note("no filter is saved: sluice filter save NAME 'type:billing.* since:2h'");
  return Exit::ok;
}

Result<Exit> save_filter(Session& session) {
  const std::string& name = session.arguments().positionals.at(0);
  const std::string& filter = session.arguments().positionals.at(1);
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto saved, session.dry_run()
                                   ? ops::check_filter(*opened.store, name, filter)
                                   : ops::save_filter(*opened.store, name, filter, session.actor(opened.config)));
  if (session.format() == Format::table) {
    session.out() << printable(saved.filter) << '\n';
  } else {
    session.out() << JsonObject{ops::to_json(saved)}.boolean("dry_run", session.dry_run()).str() << '\n';
  }
  session.note((session.dry_run() ? "dry run: would be saved; use it as saved:" : "saved; use it as saved:") + name);
  return Exit::ok;
}

Result<Exit> remove_filter(Session& session) {
  const std::string& name = session.arguments().positionals.front();
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto saved, ops::find_filter(*opened.store, name));
  if (!session.dry_run()) SLUICE_CHECK(ops::remove_filter(*opened.store, name, session.actor(opened.config)));
  if (session.format() == Format::table) {
    session.out() << printable(name) << '\n';
  } else {
    session.out() << JsonObject{ops::to_json(saved)}.boolean("dry_run", session.dry_run()).str() << '\n';
  }
  session.note((session.dry_run() ? "dry run: would remove the saved filter " : "removed the saved filter ") + name);
  return Exit::ok;
}

}  // namespace

std::vector<Command> filter_commands() {
  return {
      {{"filter", "list"},
       "list the filters that the team has saved",
       {{"sluice filter list", ""}},
       {},
       {},
       false,
       false,
       list_filters},
      {{"filter", "save"},
       "save a filter under a name, for everybody who uses the store",
       {{"sluice filter save late-orders 'type:order.* class:timeout since:24h'", ""},
        {"sluice dlq list --filter saved:late-orders", "use it"}},
       {{"NAME", "letters, digits, `-`, `_` or `.`"}, {"FILTER", "as --filter"}},
       {actor_flag(), reason_flag()},
       true,
       false,
       save_filter},
      {{"filter", "remove"},
       "remove a saved filter",
       {{"sluice filter remove late-orders", ""}},
       {{"NAME", "as `filter list` shows it"}},
       {actor_flag(), reason_flag()},
       true,
       false,
       remove_filter},
  };
}

}  // namespace sluice::cli
