// The help of every command, as files: a change of the interface shows in the diff.
#include <algorithm>

#include "cli/command.hpp"
#include "tests/cli/golden.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

std::string file_of(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return "cli/" + name + ".txt";
}

TEST(GoldenHelp, OfEveryCommand) {
  test::CommandLine sluice;
  for (const Command& command : commands()) {
    std::vector<std::string> words{command.path.begin(), command.path.end()};
    words.emplace_back("--help");
    const auto answer = sluice(words);
    EXPECT_EQ(answer.exit, Exit::ok);
    EXPECT_EQ(answer.err, "");
    test::expect_golden(file_of(command.title()), answer.out);
  }
}

TEST(GoldenHelp, OfTheWholeAndOfAGroup) {
  test::CommandLine sluice;
  test::expect_golden("cli/sluice.txt", sluice({"--help"}).out);
  test::expect_golden("cli/db.txt", sluice({"help", "db"}).out);
}

}  // namespace
}  // namespace sluice::cli
