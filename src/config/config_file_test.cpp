#include "config/config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ConfigFile, FlattensTablesAndKeepsPositions) {
  const auto entries = parse_file("store = \"sqlite:a.db\"\n[worker]\nbatch = 7\n  claim_ttl = \"90s\"\n", "f.toml");
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->entries.size(), 3U);
  EXPECT_EQ(entries->entries[0].key, "store");
  EXPECT_EQ(entries->entries[1].key, "worker.batch");
  EXPECT_EQ(entries->entries[1].value, "7");
  EXPECT_EQ(entries->entries[1].where, "f.toml:3:1");
  EXPECT_EQ(entries->entries[2].where, "f.toml:4:3");
}

TEST(ConfigFile, ReadsDottedKeysAndEveryScalar) {
  const auto entries = parse_file("a.b = true\na.c = 1.5\n", "f.toml");
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->entries[0].key, "a.b");
  EXPECT_EQ(entries->entries[0].value, "true");
  EXPECT_EQ(entries->entries[1].value, "1.5");
}

TEST(ConfigFile, SaysWhereTheSyntaxIsWrong) {
  const auto entries = parse_file("a = 1\nb = = 2\n", "f.toml");
  ASSERT_FALSE(entries);
  EXPECT_THAT(entries.error().message, StartsWith("f.toml:2:"));
}

TEST(ConfigFile, RefusesAValueThatIsNoScalar) {
  const auto entries = parse_file("[worker]\nbatch = [1, 2]\n", "f.toml");
  ASSERT_FALSE(entries);
  EXPECT_THAT(entries.error().message, HasSubstr("f.toml:2:1"));
  EXPECT_THAT(entries.error().message, HasSubstr("worker.batch"));
}

TEST(ConfigFile, NamesAFileThatCannotBeRead) {
  const auto missing = read_file("/nonexistent/sluice.toml");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent/sluice.toml"));
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
  const auto folder = read_file("/");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("directory"));
}

}  // namespace
}  // namespace sluice::config
