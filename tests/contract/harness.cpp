#include "tests/contract/harness.hpp"

namespace sluice::contract {

std::string with_names(std::string statement, const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [name, replacement] : names) {
    const std::string placeholder = "{" + name + "}";
    for (auto at = statement.find(placeholder); at != std::string::npos; at = statement.find(placeholder, at)) {
      statement.replace(at, placeholder.size(), replacement);
      at += replacement.size();
    }
  }
  return statement;
}

}  // namespace sluice::contract
