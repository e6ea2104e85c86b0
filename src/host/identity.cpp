#include "host/identity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <vector>

namespace sluice::host {

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
  std::string identity = printable_host(process.host) + ":" + std::to_string(process.pid) + ":" +
                         compact(process.start) + ":" + random.data();
  if (!process.machine.empty()) identity.append(":").append(process.machine);
  return identity;
}

std::optional<NamedProcess> process_named(std::string_view identity) {
  constexpr std::size_t kParts = 5;
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= identity.size();) {
    const std::size_t end = std::min(identity.find(':', begin), identity.size());
    parts.push_back(identity.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() != kParts || parts[0].empty() || parts[4].empty()) return std::nullopt;
  NamedProcess named{std::string{parts[0]}, 0, std::string{parts[4]}};
  const auto [end, status] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), named.pid);
  if (status != std::errc{} || end != parts[1].data() + parts[1].size() || named.pid < 1) return std::nullopt;
  return named;
}

}  // namespace sluice::host
