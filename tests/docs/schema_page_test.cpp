// docs/reference/schema.md names every table that there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace sluice {
namespace {

std::string whole_text(const std::string& path) {
  std::ifstream file{SLUICE_SOURCE_DIR + path};
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SchemaPage, NamesEveryTable) {
  const std::string page = whole_text("/docs/reference/schema.md");
  std::istringstream schema{whole_text("/tests/golden/schema.postgres.sql")};
  constexpr std::string_view kTable = "CREATE TABLE ";
  int tables = 0;
  for (std::string line; std::getline(schema, line);) {
    if (!line.starts_with(kTable)) continue;
    const std::string name = line.substr(kTable.size(), line.find(' ', kTable.size()) - kTable.size());
    EXPECT_THAT(page, testing::HasSubstr('`' + name + '`'));
    ++tables;
  }
  EXPECT_GT(tables, 20);
}

}  // namespace
}  // namespace sluice
