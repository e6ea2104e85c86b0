#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/in_process.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ConfigCommand, ExplainShowsTheWinnerAndTheLosers) {
  test::CommandLine sluice;
  test::TempDir folder;
  std::ofstream{folder.file("sluice.toml")} << "store = \"sqlite:file.db\"\n";
  sluice.environment["DATABASE_URL"] = "postgres://u:secret@h/db";
  const std::vector<std::string> words{
      "config", "explain", "store", "--store", "sqlite:flag", "--config", folder.file("sluice.toml")};
  const auto answer = sluice(words);
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("store = sqlite:flag"), HasSubstr("wins   flag         --store"),
                                HasSubstr("DATABASE_URL"), HasSubstr("postgres://u:***@h/db"),
                                HasSubstr("sluice.toml:1:1"), HasSubstr("default"), Not(HasSubstr("secret"))));
  std::vector<std::string> as_json = words;
  as_json.insert(as_json.end(), {"-o", "json"});
  EXPECT_THAT(sluice(as_json).out,
              AllOf(HasSubstr(R"("winner":{"value":"sqlite:flag","origin":"flag","where":"--store"})"),
                    HasSubstr(R"({"value":"postgres://u:***@h/db","origin":"environment","where":"DATABASE_URL"})")));
}

TEST(ConfigCommand, ExplainWorksForAValueThatCannotBeUsed) {
  test::CommandLine sluice;
  sluice.environment["SLUICE_WORKER_BATCH"] = "lots";
  EXPECT_EQ(sluice({"config", "show"}).exit, Exit::usage);
  const auto answer = sluice({"config", "explain", "worker.batch"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, HasSubstr("lots"));
}

TEST(ConfigCommand, ExplainSuggestsTheNearestKey) {
  test::CommandLine sluice;
  const auto answer = sluice({"config", "explain", "worker.bach"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, HasSubstr("did you mean worker.batch?"));
}

TEST(ConfigCommand, ShowNeverPrintsAPassword) {
  test::CommandLine sluice;
  sluice.environment["SLUICE_STORE"] = "postgres://u:hush7f3@h/db?password=hush7f3";
  for (const std::string format : {"table", "json", "ndjson"}) {
    const auto answer = sluice({"config", "show", "-o", format});
    EXPECT_EQ(answer.exit, Exit::ok);
    EXPECT_THAT(answer.out, AllOf(HasSubstr("SLUICE_STORE"), HasSubstr("***"), Not(HasSubstr("hush7f3"))));
  }
}

constexpr std::string_view kFile =
    "[sinks.shop]\nkind = \"http\"\nurl = \"https://shop.example.com/\"\nsecret_env = \"SHOP_SECRET\"\n"
    "[subscriptions.\"billing.mailer\"]\nevents = [\"invoice.*\"]\nsink = \"shop\"\n";

TEST(ConfigCommand, ValidateCountsWhatAFileDeclares) {
  test::CommandLine sluice;
  test::TempDir folder;
  const std::string file = folder.file("sluice.toml");
  std::ofstream{file} << kFile;
  sluice.environment["SHOP_SECRET"] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const auto answer = sluice({"config", "validate", file});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_EQ(answer.out, file + " is valid: 1 sink, 1 subscription, 0 hooks, 0 tokens\n");
}

TEST(ConfigCommand, ValidateSaysThatThereIsNoFile) {
  test::CommandLine sluice;
  EXPECT_THAT(sluice({"config", "validate"}).out,
              testing::StartsWith("there is no configuration file; the settings are valid: "));
}

TEST(ConfigCommand, ValidateTellsThePositionOfTheFirstError) {
  test::CommandLine sluice;
  test::TempDir folder;
  const std::string file = folder.file("sluice.toml");
  std::ofstream{file} << kFile << "conccurency = 4\n";
  const auto answer = sluice({"config", "validate", file});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("sluice.toml:8:1"), HasSubstr("did you mean `concurrency`?")));
}

TEST(ConfigCommand, ValidateWantsTheSecretsThatADaemonWould) {
  test::CommandLine sluice;
  test::TempDir folder;
  std::ofstream{folder.file("sluice.toml")} << kFile;
  const auto answer = sluice({"config", "validate", folder.file("sluice.toml")});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("sluice.toml:4:1"), HasSubstr("SHOP_SECRET")));
  EXPECT_EQ(sluice({"config", "show", "--config", folder.file("sluice.toml")}).exit, Exit::ok)
      << "looking does not need them";
}

}  // namespace
}  // namespace sluice::cli
