// sluice db index: the indexes that a search needs.
#include <ostream>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "core/try.hpp"
#include "ops/search.hpp"

namespace sluice::cli {
namespace {

std::string index_outcome(const ops::IndexReport& report, bool dry_run) {
  const std::string index = "the " + std::string{name(report.index)} + " index";
  if (report.interrupted) return "interrupted; run it again to go on";
  if (report.sql.empty()) return index + (report.drop ? " is not there: nothing to do" : " is there already");
  if (dry_run) return "dry run: nothing was changed";
  return index + (report.drop ? " is gone" : " is ready");
}

Result<Exit> change_index(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  ops::IndexOrder order;
  order.index = ops::parse_index(session.arguments().positionals.front()).value_or(store::SearchIndex::payload);
  order.drop = session.arguments().has("--drop");
  order.actor = session.actor(config);
  if (!session.dry_run()) session.adapters().interruption->arm();
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  const ops::IndexVoice voice{[&](const std::string& sentence) { session.note(sentence); },
                              [&](Duration rest) { return !session.adapters().interruption->wait_for(rest); }};
  SLUICE_TRY(const auto report,
             session.dry_run() ? ops::plan_index(*store, order) : ops::change_index(*store, order, voice));
  if (session.format() != Format::table) {
    session.out() << ops::to_json(report, session.dry_run()) << '\n';
  } else if (session.dry_run()) {
    for (const std::string& statement : report.sql) session.out() << statement << ";\n";
  }
  session.note(index_outcome(report, session.dry_run()));
  return report.interrupted ? Exit::interrupted : Exit::ok;
}

}  // namespace

Command db_index_command() {
  return {{"db", "index"},
          "make or drop the index that a search by payload or by trace needs, while publishers and workers go on",
          {{"sluice db index payload", "then `data.order_id:4711` needs no time range; every publish pays for it"},
           {"sluice db index payload --dry-run", "prints the SQL"},
           {"sluice db index trace --drop", ""}},
          {{"INDEX", "payload or trace", true, {"payload", "trace"}}},
          {{"--drop", "", "", "drop it"}, actor_flag(), reason_flag()},
          true,
          false,
          change_index};
}

}  // namespace sluice::cli
