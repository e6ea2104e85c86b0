// One figure of a store against two thresholds, for monitoring systems.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "store/administer.hpp"

namespace sluice::ops {

enum class Unit { count, seconds, percent };

/// What can be checked.
struct Gauge {
  std::string_view name;
  std::string_view meaning;
  Unit unit;
  double warn;  ///< the default: a warning from this value on
  double crit;
};
inline constexpr std::array<Gauge, 7> kGauges{{
    {"backlog", "events that are due and not claimed", Unit::count, 1000, 10'000},
    {"lag", "how long the event that waits for longest has been due", Unit::seconds, 30, 300},
    {"dlq", "dead letters that are not acknowledged", Unit::count, 1, 100},
    {"notify", "how full the NOTIFY queue is, in percent", Unit::percent, 25, 50},
    {"listener", "live workers that do not listen", Unit::count, 1, 3},
    {"generation", "events left in generations without a live worker", Unit::count, 1, 1000},
    {"sink", "sinks that take no deliveries: paused, disabled or with an open circuit", Unit::count, 1, 3},
}};
const Gauge* find_gauge(std::string_view name);

struct Thresholds {
  double warn = 0;
  double crit = 0;
};
/// What was not given is the gauge's default; a default that would contradict what was given follows it. Refused,
/// naming --warn or --crit: what is no value of the gauge's unit, and a crit below the warn.
Result<Thresholds> parse_thresholds(const Gauge& gauge, const std::optional<std::string>& warn,
                                    const std::optional<std::string>& crit);

enum class CheckState { ok, warning, critical, unknown };
std::string_view name(CheckState state);  ///< ok, warning, critical, unknown

struct Reading {
  double value = 0;
  std::string detail;  ///< who or what; may be empty
};
/// Counts no further than needed to know that `crit` is reached, where counting is what costs.
Result<Reading> read_gauge(store::Administering& store, const Gauge& gauge, const Thresholds& thresholds);

struct CheckReport {
  const Gauge* gauge = nullptr;
  Thresholds thresholds;
  CheckState state = CheckState::unknown;
  std::optional<Reading> reading;  ///< none when unknown
  std::string problem;             ///< why it is unknown
};
/// Pure. An error makes it unknown.
CheckReport judge(const Gauge& gauge, const Thresholds& thresholds, const Result<Reading>& reading);

/// `12`, `42s`, `0.5%`
std::string in_words(Unit unit, double value);
/// `WARNING lag 42s | lag=42s;30;300;0`: the line and the figures that monitoring plugins print.
std::string to_line(const CheckReport& report);
std::string to_json(const CheckReport& report);

}  // namespace sluice::ops
