#include "cli/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::vector<std::string>& words) {
  const auto parsed = parse(words);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(Parse, ReadsValuesInEveryForm) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"publish", "demo.hello", "--data", "{}"}, {"publish", "--data={}", "demo.hello"}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->arguments.command->title(), "publish");
    EXPECT_EQ(parsed->arguments.value("--data"), "{}");
    EXPECT_THAT(parsed->arguments.positionals, ElementsAre("demo.hello"));
  }
}

TEST(Parse, ReadsShortFlags) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status", "-o", "json", "-q"},
                                                {"status", "-ojson", "-q"},
                                                {"-o=json", "-q", "status"}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->arguments.value("--output"), "json");
    EXPECT_TRUE(parsed->arguments.has("--quiet"));
  }
}

TEST(Parse, GlobalFlagsMayComeBeforeTheCommand) {
  const auto parsed = parse({"--store", "sqlite:a.db", "db", "version"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->arguments.command->title(), "db version");
  EXPECT_EQ(parsed->arguments.value("--store"), "sqlite:a.db");
}

TEST(Parse, ASingleDashIsAValue) {
  EXPECT_EQ(parse({"publish", "a.b", "--data", "-"})->arguments.value("--data"), "-");
}

TEST(Parse, TwoDashesEndTheFlags) {
  const auto parsed = parse({"publish", "--", "--odd"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->arguments.positionals, ElementsAre("--odd"));
}

TEST(Parse, AnUnknownFlagNamesTheCommandAndSuggests) {
  EXPECT_EQ(refusal({"publish", "a.b", "--sorce", "x"}),
            "unknown flag --sorce for `sluice publish`; did you mean --source?");
  EXPECT_EQ(refusal({"publish", "a.b", "--frobnicate"}), "unknown flag --frobnicate for `sluice publish`");
  EXPECT_EQ(refusal({"status", "-z"}), "unknown flag -z for `sluice status`");
  EXPECT_EQ(refusal({"--stor", "x"}), "unknown flag --stor; did you mean --store?");
}

TEST(Parse, AFlagOfAnotherCommandIsUnknown) {
  EXPECT_THAT(refusal({"status", "--dry-run"}), HasSubstr("unknown flag --dry-run"));
}

TEST(Parse, AnUnknownCommandSuggests) {
  EXPECT_EQ(refusal({"pubilsh"}), "unknown command `sluice pubilsh`; did you mean publish?");
  EXPECT_EQ(refusal({"db", "migrat"}), "unknown command `sluice db migrat`; did you mean migrate?");
  EXPECT_EQ(refusal({"frobnicate"}), "unknown command `sluice frobnicate`");
}

TEST(Parse, ValuesAreChecked) {
  EXPECT_EQ(refusal({"publish", "a.b", "--data"}), "--data needs a value: --data JSON|@FILE|-");
  EXPECT_THAT(refusal({"publish", "a.b", "--data", "--wait"}), HasSubstr("--data needs a value"));
  EXPECT_EQ(refusal({"publish", "a.b", "--wait=yes"}), "--wait takes no value");
  EXPECT_EQ(refusal({"status", "-o", "xml"}), "--output must be one of table, json, ndjson, not `xml`");
  EXPECT_EQ(refusal({"publish", "a.b", "--key", "1", "--key", "2"}), "--key is given twice");
}

TEST(Parse, ArgumentsAreCounted) {
  EXPECT_THAT(refusal({"publish"}), HasSubstr("`sluice publish` needs TYPE"));
  EXPECT_THAT(refusal({"status", "extra"}), HasSubstr("takes no argument `extra`"));
  EXPECT_EQ(refusal({"completion", "fishh"}), "unknown SHELL `fishh`; did you mean fish?");
  EXPECT_EQ(refusal({"generation", "allocate"}), "accepted");
}

TEST(Parse, HelpIsAskedForInEveryWay) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"db", "migrate", "--help"}, {"help", "db", "migrate"}, {"-h", "db", "migrate"}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed);
    ASSERT_TRUE(parsed->help);
    EXPECT_TRUE(parsed->help->asked);
    EXPECT_THAT(parsed->help->words, ElementsAre("db", "migrate"));
  }
}

TEST(Parse, AnIncompleteCommandShowsHelpUnasked) {
  const auto parsed = parse({"db"});
  ASSERT_TRUE(parsed && parsed->help);
  EXPECT_FALSE(parsed->help->asked);
  EXPECT_FALSE(parse({})->help->asked);
}

}  // namespace
}  // namespace sluice::cli
