// sluice doctor: what is wrong, who causes it and what to do.
#include <ostream>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "ops/doctor.hpp"

namespace sluice::cli {
namespace {

// A sick server is what the doctor is for: no single look may take longer.
constexpr Duration kDoctorPatience = std::chrono::seconds{5};

Result<ops::DoctorReport> examine(const Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  session.detail("store: " + config->store.display());
  OpenRequest request{config->store};
  request.needs_schema = false;
  request.longest_statement = kDoctorPatience;
  auto store = session.open(request);
  if (!store) {
    if (store.error().code == ErrorCode::invalid) return std::move(store).error();
    return ops::report_unreachable(config->store.display(), store.error());
  }
  return ops::examine(**store, {config->retention, session.adapters().entropy.clock});
}

void print_finding(std::ostream& out, const ops::Finding& finding) {
  const bool well = finding.severity == ops::Severity::ok;
  out << "  " << (well ? ops::name_when_well(finding.id) : ops::name(finding.id)) << ": " << printable(finding.title)
      << '\n';
  if (well) return;
  if (!finding.detail.empty()) out << "      " << printable(finding.detail) << '\n';
  if (!finding.fix.empty()) out << "      fix: " << printable(finding.fix) << '\n';
}

void print_report(const Console& console, const ops::DoctorReport& report) {
  std::string_view group;
  for (const ops::Finding& finding : report.findings) {
    const std::string_view severity = ops::name(finding.severity);
    if (severity != group) {
      console.out << (group.empty() ? "" : "\n") << (console.color ? "\033[1m" : "") << severity
                  << (console.color ? "\033[0m" : "") << '\n';
      group = severity;
    }
    print_finding(console.out, finding);
  }
}

Exit exit_of(ops::Severity severity) {
  switch (severity) {
    case ops::Severity::critical:
      return Exit::failed;
    case ops::Severity::warning:
      return Exit::findings;
    case ops::Severity::info:
    case ops::Severity::ok:
      break;
  }
  return Exit::ok;
}

Result<Exit> doctor(Session& session) {
  const auto report = examine(session);
  if (!report) return report.error();
  switch (session.format()) {
    case Format::table:
      print_report(session.console(), *report);
      break;
    case Format::json:
      session.out() << ops::to_json(*report) << '\n';
      break;
    case Format::ndjson:
      for (const ops::Finding& finding : report->findings) session.out() << ops::to_json(finding) << '\n';
      break;
  }
  return exit_of(report->worst());
}

}  // namespace

std::vector<Command> doctor_commands() {
  return {{{"doctor"},
           "find out what is wrong, who causes it and what to do; exit 0 well, 6 warnings, 1 critical",
           {{"sluice doctor", "changes nothing; every finding comes with its fix"},
            {"sluice doctor -o json | jq '.findings[] | select(.severity != \"ok\")'", ""}},
           {},
           {},
           false,
           false,
           doctor}};
}

}  // namespace sluice::cli
