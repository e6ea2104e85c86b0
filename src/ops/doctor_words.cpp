#include <algorithm>
#include <array>
#include <cstdio>

#include "ops/doctor_findings.hpp"

namespace sluice::ops {

std::string roughly(Duration duration) {
  using namespace std::chrono;
  const Duration length = std::max(duration, Duration::zero());
  if (length < minutes{2}) return to_text(floor<seconds>(length));
  if (length < hours{2}) return std::to_string(floor<minutes>(length).count()) + 'm';
  if (length < days{2}) return std::to_string(floor<hours>(length).count()) + 'h';
  return std::to_string(floor<days>(length).count()) + 'd';
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, kUnits[unit]);
  return text.data();
}

std::string enumerated(const std::vector<std::string>& items) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t at = 0; at < std::min(items.size(), kShown); ++at) text += (at == 0 ? "" : ", ") + items[at];
  if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
  return text;
}

std::string in_words(const store::ServerSession& session) {
  std::string text = "pid " + std::to_string(session.pid) + " (";
  if (!session.application.empty()) text += session.application + ", ";
  text += "user " + (session.user.empty() ? "unknown" : session.user);
  if (!session.state.empty()) text += ", " + session.state;
  return text + ')';
}

std::string terminate_sql(const store::ServerSession& session) {
  return "select pg_terminate_backend(" + std::to_string(session.pid) + ")";
}

}  // namespace sluice::ops
