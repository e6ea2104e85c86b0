#include "mcp/actor.hpp"

namespace sluice::mcp {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._/@-";

std::string plain(std::string_view name) {
  std::string text{name.substr(0, kLongestName)};
  for (char& c : text) {
    if (kAllowed.find(c) == std::string_view::npos) c = '_';
  }
  return text;
}

}  // namespace

std::string actor_name(const std::optional<std::string>& agent, std::string_view user) {
  const bool named = agent && agent->find_first_not_of(' ') != std::string::npos;
  return "agent:" + (named ? plain(*agent) : "unknown agent") + " (for " + std::string{user} + ')';
}

}  // namespace sluice::mcp
