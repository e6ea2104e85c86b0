// sluice op: bulk changes that run or ran.
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/follow_operation.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/event_query.hpp"

namespace sluice::cli {
namespace {

constexpr int kDefaultList = 20;

Result<void> check_id(const Session& session) {
  return ops::check_operation_id(session.arguments().positionals.front(), "ID");
}

Result<Uuid> id_argument(const Session& session, store::Administering& store) {
  return ops::whole_operation_id(store, session.arguments().positionals.front(), "ID");
}

Result<Exit> list_operations(Session& session) {
  SLUICE_TRY(const auto limit, number_of(session.arguments(), {"--limit", kDefaultList, 1, ops::kMaxPage}));
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto operations, ops::list_operations(*opened.store, limit));
  SLUICE_TRY(const auto now, ops::now(*opened.store));
  std::vector<std::string> texts;
  Table table{"ID", "KIND", "STATE", "TOTAL", "PROGRESS", "BY", "AGE", "REASON"};
  for (const auto& operation : operations) {
    texts.push_back(ops::to_json(operation, now));
    table.row({operation.id.to_string(), std::string{name(operation.progress.kind)},
               std::string{name(operation.progress.state)}, std::to_string(operation.progress.counts.total),
               progress_text(operation), operation.actor.name, age_text(operation.planned_at, now),
               operation.actor.reason});
  }
  if (session.format() == Format::table) {
    if (!table.empty()) table.print(session.console());
    if (table.empty()) session.note("no operations yet");
  } else if (session.format() == Format::json) {
    session.out() << JsonObject{}.array("operations", texts).str() << '\n';
  } else {
    for (const std::string& text : texts) session.out() << text << '\n';
  }
  return Exit::ok;
}

void print_whole(const Session& session, const store::OperationRecord& operation, Timestamp now) {
  const OperationProgress& progress = operation.progress;
  const auto time = [](const std::optional<Timestamp>& at) { return at ? clock_text(*at) : std::string{}; };
  print_operation(session, operation);
  print_pairs(session.out(),
              {{"filter", operation.filter},
               {"total", std::to_string(progress.counts.total)},
               {"pace", pace_text(operation, now)},
               {"to generation", operation.to_generation ? std::to_string(*operation.to_generation) : ""},
               {"rate", progress.settings.rate > 0 ? std::to_string(progress.settings.rate) + "/s" : "as delivered"},
               {"canary", std::to_string(progress.settings.canary)},
               {"stops above", std::to_string(progress.settings.stop_percent) + " % failed again"},
               {"by", operation.actor.name + " through " + operation.actor.surface},
               {"reason", operation.actor.reason},
               {"planned", clock_text(operation.planned_at)},
               {"started", time(operation.started_at)},
               {"ended", time(operation.ended_at)}});
}

Result<Exit> show_items(const Session& session, store::Administering& store, const Uuid& id) {
  std::int64_t after = 0;
  for (;;) {
    SLUICE_TRY(const auto page, ops::list_items(store, id, ops::kMaxPage, after));
    for (const auto& item : page.items) {
      if (session.format() == Format::table) {
        session.out() << item.event_id.to_string() << ' ' << item.state << '\n';
      } else {
        session.out() << ops::to_json(item) << '\n';
      }
    }
    if (!page.next_after) return Exit::ok;
    after = *page.next_after;
  }
}

Result<Exit> show_operation(Session& session) {
  SLUICE_CHECK(check_id(session));
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto id, id_argument(session, *opened.store));
  SLUICE_TRY(const auto operation, ops::find_operation(*opened.store, id));
  if (session.arguments().has("--items")) return show_items(session, *opened.store, id);
  if (session.format() == Format::table) {
    SLUICE_TRY(const auto now, ops::now(*opened.store));
    print_whole(session, operation, now);
  } else {
    print_operation(session, operation);
  }
  return Exit::ok;
}

Result<Exit> watch(Session& session) {
  SLUICE_CHECK(check_id(session));
  session.adapters().interruption->arm();
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto id, id_argument(session, *opened.store));
  SLUICE_TRY(const auto operation, ops::find_operation(*opened.store, id));
  if (operation.progress.state == OperationState::planned) {
    Error error{ErrorCode::conflict, Retry::never, "operation " + id.to_string() + " has not been started", "ID", {}};
    error.hint = "start it with `sluice dlq replay --plan " + id.to_string() + " --reason TEXT`";
    return error;
  }
  return follow_operation(session, opened, id);
}

Result<Exit> change(Session& session, const store::OperationChange& wanted, const std::string& verb) {
  SLUICE_CHECK(check_id(session));
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto id, id_argument(session, *opened.store));
  if (session.dry_run()) {
    SLUICE_TRY(const auto operation, ops::find_operation(*opened.store, id));
    print_operation(session, operation);
    session.note("dry run: would " + verb + " it");
    return Exit::ok;
  }
  if (wanted.what == store::OperationChange::What::cancel) {
    SLUICE_TRY(const auto agreed, confirm(session, "cancel operation " + id.to_string()));
    if (!agreed) return declined(session);
  }
  SLUICE_TRY(const auto changed, ops::steer_operation(*opened.store, id, wanted, session.actor(opened.config)));
  print_operation(session, changed);
  return Exit::ok;
}

Result<Exit> pause(Session& session) { return change(session, {store::OperationChange::What::pause}, "pause"); }
Result<Exit> resume(Session& session) { return change(session, {store::OperationChange::What::resume}, "resume"); }
Result<Exit> cancel(Session& session) { return change(session, {store::OperationChange::What::cancel}, "cancel"); }

Result<Exit> rate(Session& session) {
  Arguments given = session.arguments();
  given.values["RATE"] = given.positionals.at(1);
  SLUICE_TRY(const auto wanted, number_of(given, {"RATE"}));
  return change(session, {store::OperationChange::What::rate, wanted}, "change the rate of");
}

const Positional kId{"ID", "operation id"};

Command steering(std::string_view verb, std::string_view summary, std::string_view example,
                 Result<Exit> (*run)(Session&)) {
  return {{"op", verb}, summary, {{example, ""}}, {kId}, {actor_flag(), reason_flag()}, true, false, run};
}

}  // namespace

std::vector<Command> op_commands() {
  Command set_rate = steering("rate", "change how many events per second it takes; 0: as fast as they are delivered",
                              "sluice op rate 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e 200", rate);
  set_rate.positionals.push_back({"RATE", "events per second"});
  return {
      {{"op", "list"},
       "bulk replays, discards and restores, newest first",
       {{"sluice op list", ""}},
       {},
       {{"--limit", "", "N", "at most this many, up to 1000; default 20"}},
       false,
       false,
       list_operations},
      {{"op", "show"},
       "one operation: how far it is, who started it and why",
       {{"sluice op show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", ""},
        {"sluice op show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --items", "what became of each event"}},
       {kId},
       {{"--items", "", "", "list the events and their outcomes"}},
       false,
       false,
       show_operation},
      {{"op", "watch"},
       "follow an operation to its end, and carry it out if nobody else does; Ctrl-C detaches",
       {{"sluice op watch 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", ""}},
       {kId},
       {},
       false,
       false,
       watch},
      steering("pause", "let nothing more be replayed until `op resume`",
               "sluice op pause 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'upstream is slow'", pause),
      steering("resume", "go on with a paused operation", "sluice op resume 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e",
               resume),
      steering("cancel", "end an operation; what was replayed stays replayed",
               "sluice op cancel 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --yes", cancel),
      std::move(set_rate),
  };
}

}  // namespace sluice::cli
