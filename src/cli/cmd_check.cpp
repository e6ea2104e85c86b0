// sluice check: one figure against two thresholds, for monitoring systems.
#include <ostream>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "ops/check.hpp"

namespace sluice::cli {
namespace {

using ops::CheckState;

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
  auto store = session.open(request);
  if (!store) return std::move(store).error();
  return ops::read_gauge(**store, gauge, thresholds);
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

std::vector<Command> check_commands() {
  static const std::string warn_help = threshold_help("warning", &ops::Gauge::warn);
  static const std::string crit_help = threshold_help("critical", &ops::Gauge::crit);
  return {{{"check"},
           "one figure on one line, for monitoring systems; exit 0 ok, 6 warning, 1 critical, 10 unknown",
           {{"sluice check lag --warn 30s --crit 5m", "how late the workers are"},
            {"sluice check backlog --warn 1000 --crit 10000", ""},
            {"sluice check dlq --nagios", "exit 0, 1, 2 or 3, as monitoring plugins do"}},
           {{"WHAT", "backlog, lag, dlq, notify, listener or generation", true, gauge_names()}},
           {{"--warn", "", "VALUE", warn_help},
            {"--crit", "", "VALUE", crit_help},
            {"--nagios", "", "", "exit 0 ok, 1 warning, 2 critical, 3 unknown"}},
           false,
           false,
           check}};
}

}  // namespace sluice::cli
