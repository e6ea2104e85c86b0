#include "config/hook_events.hpp"

#include <algorithm>

namespace sluice::config {
namespace {

constexpr std::string_view kEvent = "{event}";
constexpr std::string_view kSource = "{source}";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

bool comes_from(const HookConfig& hook, const std::string& pattern) {
  const std::string whole = replaced(hook.event_type, kSource, hook.source);
  const std::size_t hole = whole.find(kEvent);
  if (hole == std::string::npos) return pattern == whole;
  return hole > 0 && pattern.starts_with(std::string_view{whole}.substr(0, hole));
}

}  // namespace

std::string event_type_of(const HookConfig& hook, std::string_view event) {
  return replaced(replaced(hook.event_type, kSource, hook.source), kEvent, event);
}

bool only_from_hooks(std::span<const std::string> event_types, std::span<const HookConfig> hooks) {
  const auto from_a_hook = [&](const std::string& pattern) {
    return std::any_of(hooks.begin(), hooks.end(), [&](const HookConfig& hook) { return comes_from(hook, pattern); });
  };
  return !event_types.empty() && std::all_of(event_types.begin(), event_types.end(), from_a_hook);
}

}  // namespace sluice::config
