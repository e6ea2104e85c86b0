#include "runtime/identity.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace sluice::runtime {

namespace {

constexpr std::size_t kHostMaxBytes = 63;

std::string printable_host(std::string_view host) {
  if (host.empty()) return "localhost";
  std::string text{host.substr(0, kHostMaxBytes)};
  const auto is_odd = [](char c) { return c <= ' ' || c >= 0x7F || c == ':'; };
  std::replace_if(text.begin(), text.end(), is_odd, '_');
  return text;
}

// 20260425T014302: the ISO form without its punctuation and fraction.
std::string compact(Timestamp at) {
  std::string text = to_iso8601(at).substr(0, 19);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

}  // namespace

std::string worker_identity(const ProcessIdentity& process) {
  std::array<char, 9> random{};
  std::snprintf(random.data(), random.size(), "%08x", process.random);
  return printable_host(process.host) + ":" + std::to_string(process.pid) + ":" + compact(process.start) + ":" +
         random.data();
}

}  // namespace sluice::runtime
