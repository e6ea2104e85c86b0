#include "cli/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/key_table.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::HasSubstr;

TEST(CommandTable, EveryRowIsComplete) {
  std::set<std::string> titles;
  for (const Command& command : commands()) {
    EXPECT_TRUE(titles.insert(command.title()).second) << command.title();
    EXPECT_NE(command.run, nullptr) << command.title();
    EXPECT_FALSE(command.summary.empty()) << command.title();
    EXPECT_FALSE(command.examples.empty()) << command.title();
  }
}

TEST(CommandTable, FlagsAreUniqueAndDescribed) {
  for (const Command& command : commands()) {
    std::set<std::string_view> names;
    for (const Option& option : all_options(command)) {
      EXPECT_TRUE(names.insert(option.name).second) << command.title() << ' ' << option.name;
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
    }
  }
}

TEST(CommandTable, AFlagThatSetsAKeyIsTheOneTheKeyNames) {
  for (const Command& command : commands()) {
    for (const Option& option : all_options(command)) {
      if (option.config_key.empty()) continue;
      const config::Key* key = config::find_key(option.config_key);
      ASSERT_NE(key, nullptr) << option.config_key;
      EXPECT_EQ(key->flag, option.name);
    }
  }
}

TEST(CommandTable, EveryKeyWithAFlagHasItSomewhere) {
  std::set<std::string_view> offered;
  for (const Command& command : commands()) {
    for (const Option& option : all_options(command)) offered.insert(option.name);
  }
  for (const config::Key& key : config::keys()) {
    EXPECT_TRUE(key.flag.empty() || offered.contains(key.flag)) << key.flag;
  }
}

// `db grant` needs a store with roles: tests/cli/postgres_cli_test.cpp.
TEST(CommandTable, EveryChangeHasADryRunThatChangesNothing) {
  test::CommandLine sluice;
  sluice.store.bring_generation(1, GenerationState::allocated);
  const auto before = sluice.store.sql("select count(*) from audit");
  for (const Command& command : commands()) {
    if (!command.mutating || command.title() == "db grant") continue;
    std::vector<std::string> words{command.path.begin(), command.path.end()};
    words.emplace_back("--dry-run");
    for (const auto& positional : command.positionals) {
      if (positional.required) words.emplace_back(positional.name == "N" ? "1" : "demo.hello");
    }
    const auto answer = sluice(words);
    EXPECT_EQ(answer.exit, Exit::ok) << command.title() << ": " << answer.err;
    EXPECT_FALSE(sluice.opened.back().create) << command.title();
  }
  EXPECT_TRUE(sluice.store.events().empty());
  EXPECT_EQ(sluice.store.sql("select count(*) from audit"), before);
  const auto deployments = sluice.store->deployments();
  ASSERT_EQ(deployments->size(), 1U);
  EXPECT_EQ(deployments->front().state, GenerationState::allocated);
}

TEST(CommandTable, ADryRunOfAMigrationLeavesTheSchemaAlone) {
  test::CommandLine sluice{test::EmbeddedStore::Start::no_schema};
  EXPECT_EQ(sluice({"db", "migrate", "--dry-run"}).exit, Exit::ok);
  EXPECT_EQ(sluice.store->schema_version()->applied, 0);
}

TEST(Run, WithoutACommandShowsHelpOnStderr) {
  test::CommandLine sluice;
  const auto answer = sluice({});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("sluice publish"));
}

TEST(Run, VersionInEveryForm) {
  test::CommandLine sluice;
  EXPECT_THAT(sluice({"version"}).out, testing::StartsWith("sluice 0."));
  EXPECT_EQ(sluice({"--version"}).out, sluice({"version"}).out);
  EXPECT_THAT(sluice({"version", "-o", "json"}).out, testing::StartsWith(R"({"version":"0.)"));
}

TEST(Run, QuietDropsNotesAndVerboseAddsThem) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"event", "list", "-q"}).err, "");
  EXPECT_THAT(sluice({"event", "list"}).err, HasSubstr("no events match"));
  EXPECT_THAT(sluice({"event", "list", "-v", "--store", "postgres://u:secret@h/db"}).err,
              HasSubstr("store: postgres://u:***@h/db"));
}

}  // namespace
}  // namespace sluice::cli
