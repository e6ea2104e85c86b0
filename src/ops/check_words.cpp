#include <array>
#include <cstdio>

#include "core/json_object.hpp"
#include "ops/check.hpp"

namespace sluice::ops {
namespace {

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
