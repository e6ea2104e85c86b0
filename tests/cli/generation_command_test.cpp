#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

TEST(Generation, DrainAndBack) {
  test::CommandLine sluice;
  sluice.store.bring_generation(1, GenerationState::live);
  sluice.store.bring_generation(2, GenerationState::live);
  const auto drained = sluice({"generation", "drain", "2", "--reason", "roll back"});
  EXPECT_EQ(drained.exit, Exit::ok) << drained.err;
  EXPECT_EQ(drained.out, "2\n");
  EXPECT_THAT(drained.err, HasSubstr("publishers that name no generation use generation 1"));
  const auto again = sluice({"generation", "drain", "2"});
  EXPECT_EQ(again.exit, Exit::ok);
  EXPECT_THAT(again.err, HasSubstr("generation 2 is already draining: nothing was changed"));
  EXPECT_THAT(sluice({"generation", "activate", "2", "-o", "json"}).out, HasSubstr(R"("state":"live")"));
  EXPECT_THAT(sluice.store.sql("select reason from audit where action = 'generation.drain' and actor = 'alice@box'"),
              ElementsAre("roll back"));
}

TEST(Generation, ActivatingALiveOneIsNoErrorAndNotAudited) {
  test::CommandLine sluice;
  sluice.store.bring_generation(1, GenerationState::live);
  const auto before = sluice.store.sql("select count(*) from audit");
  const auto again = sluice({"generation", "activate", "1", "--reason", "deploy, repeated"});
  EXPECT_EQ(again.exit, Exit::ok) << again.err;
  EXPECT_EQ(again.out, "1\n");
  EXPECT_THAT(again.err, HasSubstr("generation 1 is already live: nothing was changed"));
  EXPECT_THAT(sluice({"generation", "activate", "1", "-o", "json"}).out, HasSubstr(R"("state":"live")"));
  EXPECT_THAT(sluice({"generation", "activate", "1", "--dry-run"}).err, HasSubstr("already live"));
  EXPECT_EQ(sluice.store.sql("select count(*) from audit"), before);
  sluice.store.bring_generation(2, GenerationState::retired);
  EXPECT_EQ(sluice({"generation", "activate", "2"}).exit, Exit::conflict);
}

TEST(Generation, ListSaysWhatIsLeftAndThatNobodyTakesIt) {
  test::CommandLine sluice;
  sluice.store.bring_generation(1, GenerationState::draining);
  sluice.store.publish(test::id_of(1));
  sluice.store.publish(test::id_of(2), 7);
  const auto answer = sluice({"generation", "list"});
  EXPECT_THAT(answer.out, HasSubstr("draining, 1 left, NO WORKER"));
  EXPECT_THAT(answer.err, HasSubstr("generation 7: no deployment, 1 left, NO WORKER"));
  EXPECT_THAT(sluice({"generation", "list", "-o", "json"}).out,
              HasSubstr(R"("pending":1,"in_flight":0,"failed":0,"workers":0,"abandoned":true,"estimated":[]})"));
  sluice.store.announce({.identity = "w1", .generation = 1, .handlers = {}, .listener = "listening"});
  EXPECT_THAT(sluice({"generation", "list"}).out, Not(HasSubstr("NO WORKER")));
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
