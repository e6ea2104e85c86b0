// sluice ladder: how near the store is to its limits, and the steps beyond them.
#include <ostream>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "ops/ladder.hpp"

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
  table.print(console.out, console.color);
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
  };
}

}  // namespace sluice::cli
