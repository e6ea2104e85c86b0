#include "cli/when.hpp"

#include <algorithm>
#include <cctype>

#include "ops/schema.hpp"
#include "ops/when.hpp"

namespace sluice::cli {

Result<Timestamp> parse_since(std::string_view text, std::string_view flag, store::Administering& store) {
  const auto now = ops::now(store);
  if (!now) return now.error();
  if (const auto at = ops::parse_when(text, *now)) return *at;
  return invalid(std::string{flag}, std::string{flag} + ": `" + std::string{text} +
                                        "` is neither a duration like 2h nor a time like 2026-04-25T01:43:02Z");
}

std::string clock_text(Timestamp at) {
  std::string text = to_iso8601(at);
  const std::size_t milliseconds = text.size() - 4;
  text = text.substr(0, milliseconds) + 'Z';
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string age_text(Timestamp at, Timestamp now) {
  using namespace std::chrono;
  const auto age = std::max(floor<seconds>(now - at), seconds{0});
  if (age < minutes{1}) return std::to_string(age.count()) + 's';
  if (age < hours{1}) return std::to_string(floor<minutes>(age).count()) + 'm';
  if (age < days{1}) return std::to_string(floor<hours>(age).count()) + 'h';
  return std::to_string(floor<days>(age).count()) + 'd';
}

}  // namespace sluice::cli
