// sluice move: a store becomes another one, while it is in use.
#include <algorithm>
#include <chrono>
#include <ostream>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/move.hpp"
#include "ops/operations.hpp"

namespace sluice::cli {
namespace {

constexpr int kMoveConnections = 3;

Result<config::StoreUrl> url_of(const Session& session, std::string_view flag, config::StoreUrl::Kind kind) {
  const auto text = session.arguments().value(flag);
  const bool file = kind == config::StoreUrl::Kind::sqlite;
  const std::string wanted = file ? "sqlite:PATH" : "postgres://USER@HOST/DATABASE";
  if (!text) return invalid(std::string{flag}, std::string{flag} + " is required: " + wanted);
  SLUICE_TRY(auto url, config::parse_store_url(*text, flag));
  if (url.kind != kind)
    return invalid(std::string{flag}, std::string{flag} + " must be " + wanted + ": a file moves to a server");
  return url;
}

// A line per tenth of the way, and per phase.
ops::MoveHost host_of(const Session& session) {
  ops::MoveHost host;
  host.clock = [] { return std::chrono::steady_clock::now(); };
  host.wait = [&session](Duration rest) { return session.adapters().interruption->wait_for(rest); };
  host.tell = [&session, last = std::string{}, next = std::int64_t{0}](const ops::MoveProgress& progress) mutable {
    const std::string here = progress.phase + progress.table;
    if (here == last && progress.done < next) return;
    last = here;
    next = progress.done + std::max<std::int64_t>(progress.total / 10, 1);
    if (progress.phase == "drain") {
      session.note("waiting for " + counted(progress.total, "event") + " in flight");
    } else {
      session.note(progress.phase + ": " + progress.table + ", " + std::to_string(progress.done) + " of " +
                   counted(progress.total, "slice"));
    }
  };
  return host;
}

void print_report(const Session& session, const ops::MoveReport& report) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(report, session.dry_run()) << '\n';
    return;
  }
  Table table{"TABLE", "ROWS", "SHA-256"};
  for (const auto& [name, moved] : report.tables) {
    table.row({name, std::to_string(moved.rows), moved.digest.substr(0, 16)});
  }
  table.print(session.console());
}

Result<void> refuse_running_operations(store::Administering& store) {
  SLUICE_TRY(const auto all, ops::list_operations(store, 100));
  for (const store::OperationRecord& operation : all) {
    if (operation.progress.state != OperationState::running) continue;
    return Error{ErrorCode::conflict, Retry::never, "operation " + operation.id.to_string() + " is running", "from",
                 "wait until it is over, or `sluice op pause " + operation.id.to_string() + "` it, then move"};
  }
  return {};
}

Result<Exit> move_command(Session& session) {
  const bool back = session.arguments().has("--back");
  SLUICE_TRY(const auto from_url, url_of(session, "--from", config::StoreUrl::Kind::sqlite));
  SLUICE_TRY(const auto to_url, url_of(session, "--to", config::StoreUrl::Kind::postgres));
  const auto patience = parse_duration(session.arguments().value("--drain").value_or("30s"), "--drain");
  if (!patience) return patience.error();
  SLUICE_TRY(const auto config, session.config());
  session.adapters().interruption->arm();
  SLUICE_TRY(const auto from, session.adapters().open_store({from_url, false, true, 2}));
  SLUICE_TRY(const auto to, session.adapters().open_store({to_url, false, true, kMoveConnections}));
  store::MoveSource* const source = ops::move_source(*from);
  store::MoveTarget* const target = ops::move_target(*to);
  if (source == nullptr || target == nullptr) return invalid("--from", "these two stores cannot move into each other");
  const ops::MoveOrder order{from_url.display(), to_url.display(), *patience, session.actor(config)};
  const ops::MoveHost host = host_of(session);
  if (session.dry_run()) {
    SLUICE_TRY(const auto report, ops::preview_move(*source, *target, order, host));
    print_report(session, report);
    session.note("dry run: nothing was copied");
    return Exit::ok;
  }
  if (back) {
    SLUICE_TRY(const bool agreed, confirm(session, "go back to " + order.from));
    if (!agreed) return declined(session);
    SLUICE_TRY(const auto report, ops::move_back(*source, *target, order, host));
    print_report(session, report);
    session.note(order.from + " takes writes again");
    return Exit::ok;
  }
  SLUICE_CHECK(refuse_running_operations(*from));
  SLUICE_TRY(const bool agreed, confirm(session, "move " + order.from + " to " + order.home));
  if (!agreed) return declined(session);
  SLUICE_TRY(const auto report, ops::move_store(*source, *target, order, host));
  print_report(session, report);
  if (report.in_flight > 0) {
    session.note(counted(report.in_flight, "event") + " in flight: cut off from their workers, to be delivered again");
  }
  session.note("moved; writers waited for " + to_text(std::chrono::floor<std::chrono::milliseconds>(report.held)) +
               ". Start workers and publishers with --store " + order.home);
  return Exit::ok;
}

}  // namespace

std::vector<Command> move_commands() {
  return {
      {{"move"},
       "move an embedded store to PostgreSQL, while it is in use",
       {{"sluice move --from sqlite:sluice.db --to postgres://me@db/app --dry-run",
         "what there is, and whether it can be moved"},
        {"sluice move --from sqlite:sluice.db --to postgres://me@db/app", ""},
        {"sluice move --from sqlite:sluice.db --to postgres://me@db/app --back", "while nothing has changed there"}},
       {},
       {{"--from", "", "URL", "the store that moves, sqlite:PATH"},
        {"--to", "", "URL", "where to, postgres://USER@HOST/DATABASE; its schema is there and empty"},
        {"--back", "", "", "return to the file, while nothing has changed in PostgreSQL"},
        {"--drain", "", "DURATION", "how long to wait for events in flight; default 30s"},
        actor_flag(),
        reason_flag()},
       true,
       false,
       move_command}};
}

}  // namespace sluice::cli
