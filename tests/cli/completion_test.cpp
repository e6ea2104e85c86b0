#include "cli/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "cli/command.hpp"
#include "tests/cli/in_process.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// What bash would offer for the words, the last of which is being typed.
std::string offered(const std::string& words, int last) {
  test::TempDir folder;
  std::ofstream{folder.file("sluice.bash")} << bash_completion();
  std::ofstream{folder.file("ask.bash")} << "set -eu\nsource '" << folder.file("sluice.bash") << "'\nCOMP_WORDS=("
                                         << words << ")\nCOMP_CWORD=" << last
                                         << "\n_sluice\necho \" ${COMPREPLY[*]-} \"\n";
  FILE* shell = ::popen(("bash '" + folder.file("ask.bash") + "' 2>&1").c_str(), "r");
  std::string out;
  std::array<char, 4096> chunk{};
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), shell) != nullptr) out += chunk.data();
  EXPECT_EQ(::pclose(shell), 0) << out;
  return out;
}

TEST(BashCompletion, OffersCommandsThenTheirWords) {
  EXPECT_THAT(offered("sluice ''", 1), HasSubstr(" publish "));
  EXPECT_THAT(offered("sluice db ''", 2), HasSubstr(" migrate "));
  EXPECT_THAT(offered("sluice db ''", 2), Not(HasSubstr(" publish ")));
  EXPECT_THAT(offered("sluice completion ''", 2), HasSubstr(" fish "));
}

TEST(BashCompletion, OffersFlagsAndTheirValues) {
  EXPECT_THAT(offered("sluice publish --id", 2), HasSubstr(" --idempotency-key "));
  EXPECT_EQ(offered("sluice event list --status f", 4), " failed \n");
  EXPECT_EQ(offered("sluice status -o n", 3), " ndjson \n");
  EXPECT_EQ(offered("sluice publish --source ''", 3), "  \n");
}

TEST(BashCompletion, SeesThroughFlagsBeforeTheCommand) {
  EXPECT_THAT(offered("sluice --store sqlite:a db m", 4), HasSubstr(" migrate "));
}

TEST(Completion, EveryShellKnowsEveryCommandAndFlag) {
  for (const std::string& script : {bash_completion(), zsh_completion(), fish_completion()}) {
    for (const Command& command : commands()) {
      if (command.hidden) continue;
      EXPECT_THAT(script, HasSubstr('/' + std::string{command.path.back()}));
      for (const Option& option : own_options(command)) EXPECT_THAT(script, HasSubstr(option.name.substr(2)));
    }
    EXPECT_THAT(script, Not(HasSubstr("/man")));
  }
}

TEST(ManPage, HoldsEveryCommandAndSetting) {
  test::CommandLine sluice;
  const auto page = sluice({"man"}).out;
  EXPECT_THAT(page, testing::StartsWith(".TH SLUICE 1"));
  EXPECT_THAT(page, HasSubstr(".SS sluice generation allocate [N] [flags]"));
  EXPECT_THAT(page, HasSubstr("retention.event_handled.active"));
  EXPECT_THAT(page, Not(HasSubstr("sluice man")));
}

}  // namespace
}  // namespace sluice::cli
