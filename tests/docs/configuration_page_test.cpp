// docs/reference/configuration.md lists the key table of src/config, no more and no less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "config/key_table.hpp"

namespace sluice {
namespace {

std::string row_of(const config::Key& key) {
  const auto quoted = [](std::string_view text) {
    return text.empty() ? std::string{} : "`" + std::string{text} + "`";
  };
  std::string variables;
  for (const std::string_view variable : key.environment)
    variables += (variables.empty() ? "" : ", ") + quoted(variable);
  return "| " + quoted(key.name) + " | " + quoted(key.flag) + " | " + variables + " | " +
         (key.standard.empty() ? "computed" : quoted(key.standard)) + " | " + std::string{key.description} + " |";
}

TEST(ConfigurationPage, ListsEveryKeyAsTheTableHasIt) {
  std::ifstream page{SLUICE_SOURCE_DIR "/docs/reference/configuration.md"};
  ASSERT_TRUE(page);
  std::vector<std::string> shown;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `")) shown.push_back(line);
  }
  std::vector<std::string> expected;
  for (const config::Key& key : config::keys()) expected.push_back(row_of(key));
  EXPECT_THAT(shown, testing::UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace sluice
