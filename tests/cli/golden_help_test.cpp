// The help of every command, as files: a change of the interface shows in the diff.
// UPDATE_GOLDEN=1 rewrites them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cli/command.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string{SLUICE_SOURCE_DIR} + "/tests/golden/cli/" + name + ".txt";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream{path} << text;
  std::ifstream file{path};
  ASSERT_TRUE(file) << path << " is missing; run with UPDATE_GOLDEN=1";
  const std::string golden{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, golden) << path << " differs; if the change is meant, run with UPDATE_GOLDEN=1";
}

TEST(GoldenHelp, OfEveryCommand) {
  test::CommandLine sluice;
  for (const Command& command : commands()) {
    std::vector<std::string> words{command.path.begin(), command.path.end()};
    words.emplace_back("--help");
    const auto answer = sluice(words);
    EXPECT_EQ(answer.exit, Exit::ok);
    EXPECT_EQ(answer.err, "");
    std::string name = command.title();
    std::replace(name.begin(), name.end(), ' ', '_');
    expect_golden(name, answer.out);
  }
}

TEST(GoldenHelp, OfTheWholeAndOfAGroup) {
  test::CommandLine sluice;
  expect_golden("sluice", sluice({"--help"}).out);
  expect_golden("db", sluice({"help", "db"}).out);
}

}  // namespace
}  // namespace sluice::cli
