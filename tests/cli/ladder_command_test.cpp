#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::HasSubstr;

TEST(LadderCommand, AnEmbeddedStoreHasNoPartitions) {
  test::CommandLine sluice;
  for (const std::string flag : {"--dry-run", "--abandon", "--quiet"}) {
    const auto answer = sluice({"ladder", "partition", flag});
    EXPECT_EQ(answer.exit, Exit::usage) << flag;
    EXPECT_THAT(answer.err, HasSubstr("they need PostgreSQL")) << flag;
  }
}

TEST(LadderCommand, AMonthHasOneForm) {
  test::CommandLine sluice;
  const auto answer = sluice({"ladder", "partition", "--first-month", "December"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, HasSubstr("expected a month such as 2026-12, got December"));
}

TEST(RetentionCommand, ShowsWhatIsKept) {
  test::CommandLine sluice;
  const auto answer = sluice({"retention", "show"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("45d, then 7d as tombstones"));
  EXPECT_THAT(sluice({"retention", "show", "-o", "json"}).out, HasSubstr(R"("partitions":[])"));
}

}  // namespace
}  // namespace sluice::cli
