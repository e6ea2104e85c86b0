#include "core/subscription.hpp"

#include <algorithm>

#include "core/generation.hpp"
#include "core/try.hpp"

namespace sluice {
namespace {

bool type_matches(std::string_view pattern, std::string_view event_type) {
  if (!pattern.ends_with('*')) return pattern == event_type;
  return event_type.starts_with(pattern.substr(0, pattern.size() - 1));
}

Result<void> check_pattern(std::string_view pattern) {
  if (pattern == "*") return {};
  std::string_view stem = pattern;
  if (stem.ends_with('*')) stem.remove_suffix(1);
  if (stem.ends_with('.')) stem.remove_suffix(1);
  if (check_event_type(stem)) return {};
  return invalid("event_types",
                 "an event pattern is a type, a prefix followed by *, or * alone; got '" + std::string{pattern} + "'");
}

}  // namespace

bool Interest::matches(const Route& route) const {
  return type_matches(event_type, route.event_type) && (!context || !route.target || *context == *route.target) &&
         (!channel || *channel == route.channel);
}

bool Subscription::matches(const Route& route) const {
  return std::any_of(event_types.begin(), event_types.end(), [&](const std::string& pattern) {
    return Interest{pattern, context, channel}.matches(route);
  });
}

std::vector<Interest> Subscription::interests() const {
  std::vector<Interest> all;
  all.reserve(event_types.size());
  for (const std::string& pattern : event_types) all.push_back({pattern, context, channel});
  return all;
}

Result<void> Subscription::validate() const {
  SLUICE_CHECK(check_handler_name(handler_name));
  if (event_types.empty()) return invalid("event_types", "a subscription needs at least one event pattern");
  for (const std::string& pattern : event_types) {
    SLUICE_CHECK(check_pattern(pattern));
  }
  if (context) {
    SLUICE_CHECK(check_context(*context, "context"));
  }
  if (channel) return check_channel(*channel);
  return {};
}

std::string_view scope_of(std::string_view handler_name) { return handler_name.substr(0, handler_name.find('.')); }

}  // namespace sluice
