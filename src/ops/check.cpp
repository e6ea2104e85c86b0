#include "ops/check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/dead_letters.hpp"
#include "ops/generations.hpp"
#include "ops/sinks.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

constexpr double kLargest = 1e12;

Error bad_threshold(const Gauge& gauge, const std::string& flag, const std::string& text) {
  std::string expected = "a whole number like 100";
  if (gauge.unit == Unit::seconds) expected = "a duration like 30s or 5m";
  if (gauge.unit == Unit::percent) expected = "a percentage from 0 to 100";
  return invalid(flag, flag + " must be " + expected + ", not `" + text + "`");
}

Result<double> parse_threshold(const Gauge& gauge, const std::string& flag, const std::string& text) {
  if (gauge.unit == Unit::seconds) {
    const auto duration = parse_duration(text, flag);
    if (!duration) return bad_threshold(gauge, flag, text);
    return std::chrono::duration<double>{*duration}.count();
  }
  std::string_view digits = text;
  if (gauge.unit == Unit::percent && digits.ends_with('%')) digits.remove_suffix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = gauge.unit == Unit::percent || value == std::floor(value);
  const double most = gauge.unit == Unit::percent ? 100 : kLargest;
  if (failure != std::errc{} || end != digits.data() + digits.size() || !(value >= 0) || value > most || !whole) {
    return bad_threshold(gauge, flag, text);
  }
  return value;
}

Result<Reading> read_lag(store::Administering& store) {
  SLUICE_TRY(const auto due, store.due_backlog());
  if (!due.oldest) return Reading{};
  const Duration lag = std::max(due.now - *due.oldest, Duration::zero());
  return Reading{std::chrono::duration<double>{lag}.count(), {}};
}

Result<Reading> read_backlog(store::Administering& store) {
  SLUICE_TRY(const auto due, store.due_backlog());
  return Reading{static_cast<double>(due.count), {}};
}

Result<Reading> read_dead(store::Administering& store, double crit) {
  SLUICE_TRY(const auto tally, tally_dead(store, static_cast<std::int64_t>(crit) + 1));
  const auto value = static_cast<double>(tally.unacknowledged);
  if (value > crit) return Reading{value, "or more"};
  return Reading{value, tally.acknowledged() > 0 ? in_words(tally) : ""};
}

Result<Reading> read_queue(store::Administering& store) {
  SLUICE_TRY(const auto usage, store.notify_queue_usage());
  return Reading{usage * 100, {}};
}

Result<Reading> read_listeners(store::Administering& store) {
  SLUICE_TRY(const auto workers, store.workers(kAliveWithin));
  std::vector<std::string> deaf;
  for (const auto& worker : workers) {
    if (!is_listening(worker)) deaf.push_back(worker.identity + " is " + worker.listener);
  }
  return Reading{static_cast<double>(deaf.size()), joined(deaf, ", ")};
}

Result<Reading> read_generations(store::Administering& store) {
  SLUICE_TRY(const auto survey, survey_generations(store));
  std::int64_t left = 0;
  std::vector<std::string> abandoned;
  for (const auto& one : survey.generations) {
    if (!one.abandoned()) continue;
    left += one.left();
    abandoned.push_back("generation " + std::to_string(one.generation) + " has " +
                        count_text(one.left(), one.pending_estimated));
  }
  return Reading{static_cast<double>(left), joined(abandoned, ", ")};
}

Result<Reading> read_sinks(store::Administering& store) {
  SLUICE_TRY(const auto stopped, stopped_sinks(store));
  std::vector<std::string> words;
  for (const store::SinkRecord& sink : stopped) words.push_back(sink.declared.name + " is " + why_stopped(sink));
  return Reading{static_cast<double>(stopped.size()), joined(words, ", ")};
}

/// As short as it can be: `30`, `0.5`.
std::string number_text(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  std::string number = text.data();
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

std::string_view suffix(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "s";
    case Unit::percent:
      return "%";
    case Unit::count:
      break;
  }
  return "";
}

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "seconds";
    case Unit::percent:
      return "percent";
    case Unit::count:
      break;
  }
  return "count";
}

std::string loud(CheckState state) {
  std::string word{name(state)};
  for (char& letter : word) letter = static_cast<char>(letter - 'a' + 'A');
  return word;
}

}  // namespace

const Gauge* find_gauge(std::string_view name) {
  const auto* const found =
      std::find_if(kGauges.begin(), kGauges.end(), [&](const Gauge& gauge) { return gauge.name == name; });
  return found == kGauges.end() ? nullptr : &*found;
}

Result<Thresholds> parse_thresholds(const Gauge& gauge, const std::optional<std::string>& warn,
                                    const std::optional<std::string>& crit) {
  Thresholds thresholds{gauge.warn, gauge.crit};
  if (warn) {
    SLUICE_TRY(thresholds.warn, parse_threshold(gauge, "--warn", *warn));
  }
  if (crit) {
    SLUICE_TRY(thresholds.crit, parse_threshold(gauge, "--crit", *crit));
  }
  if (warn && !crit) thresholds.crit = std::max(thresholds.crit, thresholds.warn);
  if (crit && !warn) thresholds.warn = std::min(thresholds.crit, thresholds.warn);
  if (thresholds.crit < thresholds.warn) {
    return invalid("--crit", "--crit (" + *crit + ") must not be below --warn (" + *warn + ")");
  }
  return thresholds;
}

Result<Reading> read_gauge(store::Administering& store, const Gauge& gauge, const Thresholds& thresholds) {
  if (gauge.name == "backlog") return read_backlog(store);
  if (gauge.name == "lag") return read_lag(store);
  if (gauge.name == "dlq") return read_dead(store, thresholds.crit);
  if (gauge.name == "notify") return read_queue(store);
  if (gauge.name == "listener") return read_listeners(store);
  if (gauge.name == "sink") return read_sinks(store);
  return read_generations(store);
}

CheckReport judge(const Gauge& gauge, const Thresholds& thresholds, const Result<Reading>& reading) {
  if (!reading) return {&gauge, thresholds, CheckState::unknown, std::nullopt, reading.error().message};
  CheckState state = CheckState::ok;
  if (reading->value >= thresholds.warn) state = CheckState::warning;
  if (reading->value >= thresholds.crit) state = CheckState::critical;
  return {&gauge, thresholds, state, *reading, ""};
}

std::string_view name(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return "ok";
    case CheckState::warning:
      return "warning";
    case CheckState::critical:
      return "critical";
    case CheckState::unknown:
      return "unknown";
  }
  return "";
}

std::string in_words(Unit unit, double value) { return number_text(value) + std::string{suffix(unit)}; }

std::string to_line(const CheckReport& report) {
  const std::string subject = loud(report.state) + ' ' + std::string{report.gauge->name};
  if (!report.reading) return subject + ": " + report.problem;
  const std::string value = in_words(report.gauge->unit, report.reading->value);
  std::string line = subject + ' ' + value;
  if (!report.reading->detail.empty()) line += ": " + report.reading->detail;
  // The bar ends the sentence in the format of monitoring plugins.
  for (char& letter : line) {
    if (letter == '|') letter = '/';
  }
  return line + " | " + std::string{report.gauge->name} + '=' + value + ';' + number_text(report.thresholds.warn) +
         ';' + number_text(report.thresholds.crit) + ";0" + (report.gauge->unit == Unit::percent ? ";100" : "");
}

std::string to_json(const CheckReport& report) {
  JsonObject json;
  json.text("check", report.gauge->name).text("state", name(report.state));
  json.raw("value", report.reading ? number_text(report.reading->value) : "null");
  json.text("unit", unit_name(report.gauge->unit));
  json.raw("warn", number_text(report.thresholds.warn)).raw("crit", number_text(report.thresholds.crit));
  return json.text("detail", report.reading ? report.reading->detail : report.problem).str();
}

}  // namespace sluice::ops
