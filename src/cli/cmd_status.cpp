// sluice status: the state of a store at a glance.
#include <ostream>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "ops/status_report.hpp"

namespace sluice::cli {
namespace {

void print_report(Console& console, const ops::StatusReport& report) {
  print_pairs(console.out, {{"store", report.store},
                            {"schema", "version " + std::to_string(report.schema.applied)},
                            {"clock", clock_text(report.now)},
                            {"generation", std::to_string(report.default_generation)},
                            {"discarded", std::to_string(report.discarded)}});
  console.out << '\n';
  Table table{"GENERATION", "STATE", "PENDING", "WAITING", "IN FLIGHT", "DELIVERED", "FAILED", "OLDEST PENDING"};
  for (const auto& row : report.generations) {
    table.row({std::to_string(row.generation), row.state ? std::string{name(*row.state)} : "-",
               std::to_string(row.pending), std::to_string(row.waiting), std::to_string(row.in_flight),
               std::to_string(row.delivered), std::to_string(row.failed),
               row.oldest_pending ? age_text(*row.oldest_pending, report.now) : "-"});
  }
  if (table.empty()) {
    console.out << "  no events and no generations yet\n";
  } else {
    table.print(console.out, console.color);
  }
}

Result<Exit> status(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  const auto report = ops::report_status(**store);
  if (!report) return report.error();
  if (session.format() == Format::table) {
    print_report(session.console(), *report);
  } else {
    session.out() << ops::to_json(*report) << '\n';
  }
  return Exit::ok;
}

}  // namespace

std::vector<Command> status_commands() {
  return {{{"status"},
           "what waits, what runs and what failed, by generation",
           {{"sluice status", ""}, {"sluice status -o json | jq '.generations[].failed'", ""}},
           {},
           {},
           false,
           false,
           status}};
}

}  // namespace sluice::cli
