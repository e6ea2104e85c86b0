// The configuration as the binary sees it: real environment, real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ConfigFileOfTheBinary, IsFoundInTheWorkingFolder) {
  Home home;
  home.write("sluice.toml", "store = \"sqlite:from-file.db\"\n[worker]\nbatch = 7\n");
  const auto shown = home.sluice({"config", "explain", "worker.batch"});
  EXPECT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("worker.batch = 7"), HasSubstr("sluice.toml:3:1")));
  ASSERT_EQ(home.sluice({"publish", "demo.hello"}).exit, 0);
  EXPECT_TRUE(home.exists("from-file.db"));
}

TEST(ConfigFileOfTheBinary, LosesAgainstEnvironmentAndFlag) {
  Home home;
  home.write("sluice.toml", "store = \"sqlite:from-file.db\"\n");
  home.environment["SLUICE_STORE"] = "sqlite:from-env.db";
  ASSERT_EQ(home.sluice({"publish", "demo.hello"}).exit, 0);
  EXPECT_TRUE(home.exists("from-env.db"));
  ASSERT_EQ(home.sluice({"publish", "demo.hello", "--store", "sqlite:from-flag.db"}).exit, 0);
  EXPECT_TRUE(home.exists("from-flag.db"));
  EXPECT_FALSE(home.exists("from-file.db"));
}

TEST(ConfigFileOfTheBinary, AnErrorGivesLineColumnAndSuggestion) {
  Home home;
  home.write("sluice.toml", "[retry]\nbse = \"1s\"\n");
  const auto unknown = home.sluice({"status"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("sluice.toml:2:1"), HasSubstr("did you mean `retry.base`?")));
  home.write("sluice.toml", "[retry\n");
  EXPECT_THAT(home.sluice({"status"}).err, HasSubstr("sluice.toml:1:"));
  home.write("sluice.toml", "[retry]\nbase = \"soon\"\n");
  EXPECT_THAT(home.sluice({"status"}).err, AllOf(HasSubstr("sluice.toml:2:1"), HasSubstr("`soon`")));
}

TEST(ConfigFileOfTheBinary, RetentionThatBreaksDedupIsRefusedAtTheStart) {
  Home home;
  home.write("sluice.toml", "[retention.outbox]\nactive = \"90d\"\n");
  const auto answer = home.sluice({"serve"});
  EXPECT_EQ(answer.exit, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("retention.event_handled.active"));
}

TEST(ConfigFileOfTheBinary, MustExistWhenNamed) {
  Home home;
  const auto answer = home.sluice({"status", "--config", "missing.toml"});
  EXPECT_EQ(answer.exit, 2);
  EXPECT_THAT(answer.err, HasSubstr("missing.toml"));
}

TEST(Environment, TheActorAndTheNoColorRule) {
  Home home;
  home.environment["NO_COLOR"] = "1";
  ASSERT_EQ(home.sluice({"generation", "allocate"}).exit, 0);
  const auto listed = home.sluice({"generation", "list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("tester@"), Not(HasSubstr("\033"))));
}

}  // namespace
}  // namespace sluice::test
