#include "host/local_time.hpp"

#include <array>
#include <ctime>

namespace sluice::host {

std::string local_time(Timestamp at) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  std::tm parts{};
  ::tzset();
  if (::localtime_r(&seconds, &parts) == nullptr || parts.tm_gmtoff == 0) return {};
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S %Z", &parts);
  return {text.data(), size};
}

}  // namespace sluice::host
