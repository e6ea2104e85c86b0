// sluice doctor and sluice check: what is wrong, for people and for monitoring.
#include <ostream>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "core/try.hpp"
#include "ops/check.hpp"
#include "ops/doctor.hpp"

namespace sluice::cli {
namespace {

using ops::CheckState;

// A sick server is what the doctor is for: no single look may take longer.
constexpr Duration kDoctorPatience = std::chrono::seconds{5};

Result<ops::DoctorReport> examine(const Session& session) {
  SLUICE_TRY(const auto config, session.config());
  session.detail("store: " + config.store.display());
  OpenRequest request{config.store};
  request.needs_schema = false;
  request.longest_statement = kDoctorPatience;
  auto store = session.adapters().open_store(request);
  if (!store) {
    if (store.error().code == ErrorCode::invalid) return std::move(store).error();
    return ops::report_unreachable(config.store.display(), store.error());
  }
  SLUICE_TRY(const auto broker, session.adapters().open_broker(config));
  ops::DoctorOptions options{config.retention, session.adapters().entropy.clock};
  options.broker = broker.get();
  options.relay = relay_settings(config);
  options.dead_letters = config.dead_letters;
  return ops::examine(**store, options);
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
  SLUICE_TRY(const auto report, examine(session));
  switch (session.format()) {
    case Format::table:
      print_report(session.console(), report);
      break;
    case Format::json:
      session.out() << ops::to_json(report) << '\n';
      break;
    case Format::ndjson:
      for (const ops::Finding& finding : report.findings) session.out() << ops::to_json(finding) << '\n';
      break;
  }
  return exit_of(report.worst());
}

// A monitoring system gives up after about ten seconds, too.
constexpr Duration kCheckPatience = std::chrono::seconds{8};

Exit exit_of(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return Exit::ok;
    case CheckState::warning:
      return Exit::findings;
    case CheckState::critical:
      return Exit::failed;
    case CheckState::unknown:
      break;
  }
  return Exit::unavailable;
}

/// The codes of monitoring plugins: 0, 1, 2 and 3, whatever they mean elsewhere.
Exit plugin_exit_of(CheckState state) { return static_cast<Exit>(state); }

Result<ops::Reading> read(const Session& session, const config::Config& config, const ops::Gauge& gauge,
                          const ops::Thresholds& thresholds) {
  session.detail("store: " + config.store.display());
  OpenRequest request{config.store};
  request.longest_statement = kCheckPatience;
  SLUICE_TRY(auto store, session.adapters().open_store(request));
  return ops::read_gauge(*store, gauge, thresholds);
}

void print(const Session& session, const ops::CheckReport& report) {
  if (session.format() == Format::table) {
    session.out() << printable(ops::to_line(report)) << '\n';
  } else {
    session.out() << ops::to_json(report) << '\n';
  }
}

Result<Exit> check(Session& session) {
  const Arguments& arguments = session.arguments();
  const bool plugin = arguments.has("--nagios");
  const ops::Gauge& gauge = *ops::find_gauge(arguments.positional(0).value_or(""));
  const auto thresholds = ops::parse_thresholds(gauge, arguments.value("--warn"), arguments.value("--crit"));
  const auto config = session.config();
  Result<ops::Reading> reading = ops::Reading{};
  if (!thresholds) {
    reading = thresholds.error();
  } else if (!config) {
    reading = config.error();
  } else {
    reading = read(session, *config, gauge, *thresholds);
  }
  // Wrong usage is the caller's to see; only a plugin has no code for it but "unknown".
  if (!reading && reading.error().code == ErrorCode::invalid && !plugin) return std::move(reading).error();
  const auto used = thresholds ? *thresholds : ops::Thresholds{gauge.warn, gauge.crit};
  const ops::CheckReport report = ops::judge(gauge, used, reading);
  print(session, report);
  return plugin ? plugin_exit_of(report.state) : exit_of(report.state);
}

std::vector<std::string_view> gauge_names() {
  std::vector<std::string_view> names;
  for (const ops::Gauge& gauge : ops::kGauges) names.push_back(gauge.name);
  return names;
}

/// `backlog, lag, … or sink`
std::string what_help() {
  std::string text;
  const std::size_t last = std::size(ops::kGauges) - 1;
  for (std::size_t place = 0; place <= last; ++place) {
    if (place > 0) text += place == last ? " or " : ", ";
    text += ops::kGauges[place].name;
  }
  return text;
}

/// `from this value on; default: backlog 1000, lag 30s, …`
std::string threshold_help(std::string_view state, double ops::Gauge::*level) {
  std::string text = std::string{state} + " from this value on; default: ";
  for (const ops::Gauge& gauge : ops::kGauges) {
    if (!text.ends_with(": ")) text += ", ";
    text += std::string{gauge.name} + ' ' + ops::in_words(gauge.unit, gauge.*level);
  }
  return text;
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

std::vector<Command> check_commands() {
  static const std::string what = what_help();
  static const std::string warn_help = threshold_help("warning", &ops::Gauge::warn);
  static const std::string crit_help = threshold_help("critical", &ops::Gauge::crit);
  return {{{"check"},
           "one figure on one line, for monitoring systems; exit 0 ok, 6 warning, 1 critical, 10 unknown",
           {{"sluice check lag --warn 30s --crit 5m", "how late the workers are"},
            {"sluice check backlog --warn 1000 --crit 10000", ""},
            {"sluice check dlq --nagios", "exit 0, 1, 2 or 3, as monitoring plugins do"}},
           {{"WHAT", what, true, gauge_names()}},
           {{"--warn", "", "VALUE", warn_help},
            {"--crit", "", "VALUE", crit_help},
            {"--nagios", "", "", "exit 0 ok, 1 warning, 2 critical, 3 unknown"}},
           false,
           false,
           check}};
}

}  // namespace sluice::cli
