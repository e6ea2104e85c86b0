#include "store/postgres/route_pattern.hpp"

#include <set>
#include <string_view>

namespace sluice::store {
namespace {

std::string literal(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '_' || c == '%' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string type_pattern(std::string_view type) {
  if (!type.ends_with('*')) return literal(type);
  return literal(type.substr(0, type.size() - 1)) + '%';
}

}  // namespace

std::vector<std::string> route_patterns(std::span<const Interest> interests) {
  std::set<std::string> patterns;
  for (const Interest& interest : interests) {
    if (interest == Interest{}) return {};
    const std::string channel = interest.channel ? literal(*interest.channel) : "%";
    const std::string type = type_pattern(interest.event_type);
    if (!interest.context) {
      patterns.insert(channel + "/%/" + type);
      continue;
    }
    patterns.insert(channel + "/*/" + type);
    patterns.insert(channel + '/' + literal(*interest.context) + '/' + type);
  }
  return {patterns.begin(), patterns.end()};
}

std::vector<std::string> lanes(std::span<const std::string> handlers) {
  if (handlers.empty()) return {};
  std::set<std::string> all{""};
  for (const std::string& handler : handlers) all.emplace(scope_of(handler));
  return {all.begin(), all.end()};
}

}  // namespace sluice::store
