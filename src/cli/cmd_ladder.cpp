// sluice ladder: the steps past one table and past one machine.
#include <ostream>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "ops/ladder.hpp"
#include "ops/schema.hpp"

namespace sluice::cli {
namespace {

void print_ladder(Console& console, const ops::LadderReport& report) {
  const LadderVerdict& verdict = report.verdict;
  Table table{"TRIGGER", "VALUE", "THRESHOLD", "ABOVE SINCE", "STEP", "DUE"};
  for (const LadderTrigger& trigger : verdict.triggers) {
    table.row({std::string{name(trigger.id)}, ops::value_text(trigger), ops::threshold_text(trigger),
               trigger.since ? clock_text(*trigger.since) : "-", std::string{name(trigger.step)},
               trigger.due ? "yes" : "no"});
  }
  table.print(console);
  console.out << '\n';
  const bool known = verdict.known_since < report.now;
  std::vector<std::pair<std::string_view, std::string>> pairs{
      {"due", verdict.due ? std::string{name(*verdict.due)} : "nothing"}, {"why", verdict.why}};
  if (verdict.due) {
    pairs.emplace_back("next", std::string{command(*verdict.due)});
    pairs.emplace_back("cost", std::string{cost(*verdict.due)});
  }
  pairs.emplace_back("history", known ? "without a gap since " + clock_text(verdict.known_since)
                                      : "none: a worker writes it while it runs");
  print_pairs(console.out, pairs);
}

Result<Exit> ladder_status(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto report, ops::report_ladder(*opened.store));
  if (session.format() == Format::table) {
    print_ladder(session.console(), report);
  } else {
    session.out() << ops::to_json(report) << '\n';
  }
  return report.verdict.due ? Exit::findings : Exit::ok;
}

Result<ops::PartitionOrder> partition_order(const Session& session, const config::Config& config) {
  ops::PartitionOrder order;
  order.actor = session.actor(config);
  if (const auto month = session.arguments().value("--first-month")) {
    SLUICE_TRY(order.boundary, ops::parse_month(*month, "--first-month"));
  }
  return order;
}

Result<Exit> print_partition_plan(const Session& session, store::Administering& store,
                                  const ops::PartitionOrder& order) {
  SLUICE_TRY(const auto plan, ops::plan_partition(store, order));
  if (session.format() != Format::table) {
    session.out() << ops::to_json(plan) << '\n';
    return Exit::ok;
  }
  for (const ops::PlannedStep& one : plan) {
    session.out() << "-- " << store::name(one.step) << "\nbegin;\n";
    for (const std::string& statement : one.sql) session.out() << statement << ";\n";
    session.out() << "commit;\n\n";
  }
  session.note(plan.empty() ? "core.outbox is partitioned already" : "dry run: nothing was changed");
  return Exit::ok;
}

void print_partition_report(const Session& session, const ops::PartitionReport& report) {
  if (session.format() != Format::table) session.out() << ops::to_json(report) << '\n';
  if (report.already) {
    session.note("core.outbox is partitioned already");
  } else if (report.interrupted) {
    session.note("interrupted; run it again to go on, or with --abandon to undo the steps taken");
  } else {
    session.note("core.outbox is partitioned: " + ops::month_text(report.boundary) +
                 " is the first month of its own; retention makes and drops months from now on");
  }
}

Result<Exit> partition(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(const auto order, partition_order(session, config));
  if (!session.dry_run()) session.adapters().interruption->arm();
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  if (session.dry_run()) return print_partition_plan(session, *store, order);
  if (session.arguments().has("--abandon")) {
    SLUICE_CHECK(ops::abandon_partition(*store, order.actor));
    session.note("core.outbox is one table, and nothing is left of the steps towards partitions");
    return Exit::ok;
  }
  const ops::PartitionVoice voice{[&](const std::string& sentence) { session.note(sentence); },
                                  [&](Duration rest) { return !session.adapters().interruption->wait_for(rest); }};
  SLUICE_TRY(const auto report, ops::partition_events(*store, order, voice));
  print_partition_report(session, report);
  return report.interrupted ? Exit::interrupted : Exit::ok;
}

Command partition_command() {
  return {{"ladder", "partition"},
          "turn core.outbox into monthly partitions, while publishers and workers go on",
          {{"sluice ladder partition --dry-run", "prints the SQL"},
           {"sluice ladder partition --reason 'five million rows'", "killed at any point, it is run again"}},
          {},
          {{"--first-month", "", "YYYY-MM",
            "the first month of its own; default: the first that begins in a week or later"},
           {"--abandon", "", "", "undo the steps of a run that did not come to its end"},
           actor_flag(),
           reason_flag()},
          true,
          false,
          partition};
}

}  // namespace

std::vector<Command> ladder_commands() {
  return {
      {{"ladder", "status"},
       "how near the store is to its limits, and which step is due; exits with 6 when one is",
       {{"sluice ladder status", ""}, {"sluice ladder status -o json | jq .due", ""}},
       {},
       {},
       false,
       false,
       ladder_status},
      partition_command(),
  };
}

}  // namespace sluice::cli
