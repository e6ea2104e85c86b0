#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Generation, AllocatePrintsTheNumberAndNamesTheActor) {
  test::CommandLine sluice;
  const auto answer = sluice({"generation", "allocate", "--note", "release", "--reason", "rollout"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_EQ(answer.out, "1\n");
  EXPECT_THAT(sluice.store.sql("select actor || ', ' || surface || ', ' || reason from audit"),
              ElementsAre("alice@box, cli, rollout"));
  EXPECT_EQ(sluice.store->deployments()->at(0).note, "release");
}

TEST(Generation, TheActorFollowsThePrecedence) {
  test::CommandLine sluice;
  sluice.environment["SLUICE_ACTOR"] = "ci";
  sluice({"generation", "allocate"});
  sluice({"generation", "allocate", "--as", "bob"});
  EXPECT_THAT(sluice.store.sql("select actor from audit order by id"), ElementsAre("ci", "bob"));
}

TEST(Generation, ActivateAndList) {
  test::CommandLine sluice;
  EXPECT_THAT(sluice({"generation", "list"}).err, HasSubstr("no generation is allocated"));
  sluice({"generation", "allocate", "42"});
  EXPECT_EQ(sluice({"generation", "activate", "42"}).exit, Exit::ok);
  EXPECT_THAT(sluice({"generation", "list"}).out, HasSubstr("live"));
  EXPECT_THAT(sluice({"generation", "list", "-o", "json"}).out, HasSubstr(R"({"generations":[{"generation":42,)"));
  EXPECT_THAT(sluice({"generation", "list", "-o", "ndjson"}).out, testing::StartsWith(R"({"generation":42,)"));
}

TEST(Generation, RefusesWhatIsNoGeneration) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"generation", "activate", "0"}).exit, Exit::usage);
  EXPECT_EQ(sluice({"generation", "allocate", "x"}).exit, Exit::usage);
  EXPECT_EQ(sluice({"generation", "activate", "7"}).exit, Exit::not_found);
  EXPECT_EQ(sluice({"generation", "activate", "7", "--dry-run"}).exit, Exit::not_found);
}

TEST(Generation, ADryRunSaysWhatWouldHappen) {
  test::CommandLine sluice;
  sluice({"generation", "allocate"});
  const auto answer = sluice({"generation", "allocate", "--dry-run", "-o", "json"});
  EXPECT_EQ(answer.out, "{\"dry_run\":true,\"generation\":2,\"state\":\"allocated\"}\n");
  EXPECT_EQ(sluice({"generation", "allocate", "1", "--dry-run"}).exit, Exit::conflict);
}

}  // namespace
}  // namespace sluice::cli
