#include <sluice/time.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>

namespace sluice {

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Timestamp kFirst = std::chrono::sys_days{std::chrono::year{1} / 1 / 1};
constexpr Timestamp kEnd = std::chrono::sys_days{std::chrono::year{10000} / 1 / 1};

// Takes the parts of a timestamp off the front of a text, one at a time.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool at_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }

  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  int digit() {
    const int value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }

  std::optional<int> digits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (!at_digit()) return std::nullopt;
      value = value * 10 + digit();
    }
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<std::chrono::sys_days> read_date(Reader& in) {
  const auto year = in.digits(4);
  if (!year || *year == 0 || !in.take("-")) return std::nullopt;
  const auto month = in.digits(2);
  if (!month || !in.take("-")) return std::nullopt;
  const auto day = in.digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

std::optional<Duration> read_fraction(Reader& in) {
  if (!in.at_digit()) return std::nullopt;
  int value = 0;
  for (int place = 0; place < 6; ++place) value = value * 10 + (in.at_digit() ? in.digit() : 0);
  while (in.at_digit()) in.digit();
  return microseconds{value};
}

std::optional<Duration> read_time_of_day(Reader& in) {
  const auto hour = in.digits(2);
  if (!hour || *hour > 23 || !in.take(":")) return std::nullopt;
  const auto minute = in.digits(2);
  if (!minute || *minute > 59 || !in.take(":")) return std::nullopt;
  const auto second = in.digits(2);
  if (!second || *second > 59) return std::nullopt;
  const Duration whole = hours{*hour} + minutes{*minute} + seconds{*second};
  if (!in.take(".")) return whole;
  const auto fraction = read_fraction(in);
  if (!fraction) return std::nullopt;
  return whole + *fraction;
}

// `Z`, `+02:00`, and the shorter `+0200` and `+02` that PostgreSQL prints.
std::optional<Duration> read_offset(Reader& in) {
  if (in.take("Zz")) return Duration{0};
  const bool behind = in.take("-");
  if (!behind && !in.take("+")) return std::nullopt;
  const auto hour = in.digits(2);
  if (!hour || *hour > 23) return std::nullopt;
  int minute = 0;
  if (in.take(":") || in.at_digit()) {
    const auto value = in.digits(2);
    if (!value || *value > 59) return std::nullopt;
    minute = *value;
  }
  const Duration offset = hours{*hour} + minutes{minute};
  return behind ? -offset : offset;
}

std::optional<Timestamp> read_timestamp(std::string_view text) {
  Reader in{text};
  const auto date = read_date(in);
  if (!date || !in.take("Tt ")) return std::nullopt;
  const auto time_of_day = read_time_of_day(in);
  if (!time_of_day) return std::nullopt;
  const auto offset = read_offset(in);
  if (!offset || !in.at_end()) return std::nullopt;
  const Timestamp at = *date + *time_of_day - *offset;
  if (at < kFirst || at >= kEnd) return std::nullopt;
  return at;
}

struct Unit {
  std::string_view suffix;
  Duration length;
};

// Longest first, so that to_text picks the shortest text.
constexpr std::array kUnits{Unit{"d", days{1}},    Unit{"h", hours{1}},         Unit{"m", minutes{1}},
                            Unit{"s", seconds{1}}, Unit{"ms", milliseconds{1}}, Unit{"us", microseconds{1}}};

// A century: far beyond any use, far below what arithmetic on timestamps can overflow.
constexpr Duration kLongest = days{36500};

}  // namespace

std::string to_iso8601(Timestamp at) {
  const auto day = std::chrono::floor<days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss<Duration> time{at - day};
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                    static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

Result<Timestamp> parse_iso8601(std::string_view text, std::string_view field) {
  if (const auto at = read_timestamp(text)) return *at;
  return invalid(std::string{field},
                 std::string{field} + " must be an existing date and time with an offset, like 2026-04-25T01:43:02Z");
}

Result<Duration> parse_duration(std::string_view text, std::string_view field) {
  const std::string name{field};
  std::int64_t count = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (status == std::errc::result_out_of_range) count = std::numeric_limits<std::int64_t>::max();
  const bool has_number = status != std::errc::invalid_argument && text.front() != '-';
  const std::string_view suffix = text.substr(has_number ? static_cast<std::size_t>(end - text.data()) : 0);
  for (const Unit& unit : kUnits) {
    if (!has_number || (suffix != unit.suffix && !(suffix.empty() && unit.suffix == "s"))) continue;
    if (count > kLongest / unit.length) return invalid(name, name + " must be at most " + to_text(kLongest));
    return count * unit.length;
  }
  return invalid(name, name + " must be a whole number with a unit, like 250ms, 5s, 10m, 2h or 1d");
}

std::string to_text(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration % unit.length == Duration::zero()) {
      return std::to_string(duration / unit.length).append(unit.suffix);
    }
  }
  return std::to_string(duration.count()) + "us";
}

}  // namespace sluice
