#include "config/gather.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Gathering : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path{testing::TempDir()} /
              (std::string{"gather_"} + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    sources_.environment["HOME"] = folder_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
    return path;
  }

  std::filesystem::path folder_;
  Sources sources_;
};

TEST_F(Gathering, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  sources_.file = write("sluice.toml", "store = \"sqlite:file.db\"\n");
  sources_.flags["store"] = "sqlite:flag.db";
  sources_.environment["SLUICE_STORE"] = "sqlite:env.db";
  sources_.environment["DATABASE_URL"] = "postgres://h/db";
  const auto settings = gather(sources_);
  ASSERT_TRUE(settings) << settings.error().message;
  const auto& candidates = settings->of("store").candidates;
  ASSERT_EQ(candidates.size(), 5U);
  EXPECT_EQ(candidates[0].where, "--store");
  EXPECT_EQ(candidates[0].value, "sqlite:flag.db");
  EXPECT_EQ(candidates[1].where, "SLUICE_STORE");
  EXPECT_EQ(candidates[2].where, "DATABASE_URL");
  EXPECT_EQ(candidates[3].where, *sources_.file + ":1:1");
  EXPECT_EQ(candidates[4].origin, Origin::standard);
}

TEST_F(Gathering, SluiceGenerationBeatsTheOlderName) {
  sources_.environment["SPECTRAL_GENERATION"] = "3";
  EXPECT_EQ(gather(sources_)->of("generation").winner().value, "3");
  sources_.environment["SLUICE_GENERATION"] = "4";
  EXPECT_EQ(gather(sources_)->of("generation").winner().value, "4");
}

TEST_F(Gathering, AnEmptyVariableIsUnset) {
  sources_.environment["SLUICE_STORE"] = "";
  sources_.environment["DATABASE_URL"] = "postgres://h/db";
  EXPECT_EQ(gather(sources_)->of("store").winner().where, "DATABASE_URL");
}

TEST_F(Gathering, TheDefaultStoreFollowsXdg) {
  EXPECT_EQ(gather(sources_)->of("store").winner().value,
            "sqlite:" + folder_.string() + "/.local/share/sluice/sluice.db");
  sources_.environment["XDG_DATA_HOME"] = "/data";
  EXPECT_EQ(gather(sources_)->of("store").winner().value, "sqlite:/data/sluice/sluice.db");
  sources_.environment["XDG_DATA_HOME"] = "relative";
  EXPECT_EQ(gather(sources_)->of("store").winner().value,
            "sqlite:" + folder_.string() + "/.local/share/sluice/sluice.db");
}

TEST_F(Gathering, TheDefaultActorIsTheUserAtTheHost) {
  sources_.environment["USER"] = "alice";
  sources_.hostname = "box";
  EXPECT_EQ(gather(sources_)->of("actor").winner().value, "alice@box");
}

TEST_F(Gathering, WithoutUserTheDefaultActorIsTheLoginNameThenTheUserIds) {
  sources_.environment["USER"] = "";
  sources_.environment["LOGNAME"] = "bob";
  sources_.user = "carol";
  EXPECT_EQ(gather(sources_)->of("actor").winner().value, "bob");
  sources_.environment.erase("LOGNAME");
  EXPECT_EQ(gather(sources_)->of("actor").winner().value, "carol");
  sources_.user.clear();
  EXPECT_EQ(gather(sources_)->of("actor").winner().value, "unknown");
}

TEST_F(Gathering, FindsTheFileOfTheEnvironmentAndOfXdg) {
  const std::string in_xdg = write(".config/sluice/sluice.toml", "service = \"xdg\"\n");
  EXPECT_EQ(gather(sources_)->file, in_xdg);
  const std::string named = write("named.toml", "service = \"named\"\n");
  sources_.environment["SLUICE_CONFIG"] = named;
  EXPECT_EQ(gather(sources_)->of("service").winner().value, "named");
}

TEST_F(Gathering, AFileThatWasNamedMustExist) {
  sources_.file = (folder_ / "missing.toml").string();
  const auto settings = gather(sources_);
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("missing.toml"));
}

TEST_F(Gathering, AnUnknownKeyIsRefusedWithPositionAndSuggestion) {
  sources_.file = write("sluice.toml", "\n[wroker]\nbatch = 5\n");
  const auto settings = gather(sources_);
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, AllOf(HasSubstr("sluice.toml:3:1"), HasSubstr("wroker.batch"),
                                              HasSubstr("did you mean `worker.batch`?")));
}

TEST_F(Gathering, SecretsAreRedactedWhereShown) {
  EXPECT_EQ(shown(*find_key("store"), "postgres://u:secret@h/db"), "postgres://u:***@h/db");
  EXPECT_EQ(shown(*find_key("service"), "a:b@c"), "a:b@c");
}

TEST(KeyTable, NamesFlagsAndVariablesAreUnique) {
  std::set<std::string_view> seen;
  for (const Key& key : keys()) {
    EXPECT_TRUE(seen.insert(key.name).second) << key.name;
    EXPECT_TRUE(key.flag.empty() || seen.insert(key.flag).second) << key.flag;
    for (const auto variable : key.environment) EXPECT_TRUE(seen.insert(variable).second) << variable;
    EXPECT_FALSE(key.description.empty()) << key.name;
  }
}

}  // namespace
}  // namespace sluice::config
