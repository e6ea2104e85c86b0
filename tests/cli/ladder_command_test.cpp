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

TEST(LadderCommand, ARelayThatIsOffNeedsNoWayBack) {
  test::CommandLine sluice;
  for (const std::string flag : {"--dry-run", "--force"}) {
    const auto answer = sluice({"ladder", "relay", "--back", "--reason", "to be sure", flag});
    EXPECT_EQ(answer.exit, Exit::ok) << flag << answer.err;
    EXPECT_THAT(answer.err, HasSubstr("the relay is off already")) << flag;
  }
}

TEST(RetentionCommand, ShowsWhatIsKept) {
  test::CommandLine sluice;
  const auto answer = sluice({"retention", "show"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("45d, then 7d as tombstones"));
  EXPECT_THAT(sluice({"retention", "show", "-o", "json"}).out, HasSubstr(R"("partitions":[])"));
}

TEST(LadderCommand, SaysThatNothingIsDue) {
  test::CommandLine sluice;
  const auto answer = sluice({"ladder", "status"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("latency_p99"));
  EXPECT_THAT(answer.out, HasSubstr("none: a worker writes it while it runs"));
}

TEST(LadderCommand, NamesTheStepThatIsDueAndExitsWithFindings) {
  test::CommandLine sluice;
  for (int hour = 0; hour <= 7 * 24; ++hour) {
    ASSERT_TRUE(sluice.store->record_ladder({.rows = 6'000'000}));
    if (hour < 7 * 24) sluice.store.now += std::chrono::hours{1};
  }
  const auto answer = sluice({"ladder", "status"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out, HasSubstr("sluice move --from"));
}

TEST(MoveCommand, NamesTheFlagThatIsMissingOrWrong) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"move"}).exit, Exit::usage);
  EXPECT_THAT(sluice({"move"}).err, HasSubstr("--from is required: sqlite:PATH"));
  EXPECT_THAT(sluice({"move", "--from", "postgres://me@db/app"}).err, HasSubstr("--from must be sqlite:PATH"));
  EXPECT_THAT(sluice({"move", "--from", "sqlite:x.db", "--to", "sqlite:y.db"}).err,
              HasSubstr("--to must be postgres://"));
}

}  // namespace
}  // namespace sluice::cli
