// sluice generation retire and reroute: how a generation ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class GenerationEnd : public testing::Test {
 protected:
  GenerationEnd() {
    sluice_.store.bring_generation(1, GenerationState::draining);
    sluice_.store.bring_generation(2, GenerationState::live);
  }
  test::Answer check() { return sluice_({"generation", "retire", "1", "--check"}); }
  test::Answer reroute(std::vector<std::string> more = {"--yes"}) {
    std::vector<std::string> words{"generation", "reroute", "1", "--to", "2", "--reason", "no worker is left"};
    words.insert(words.end(), more.begin(), more.end());
    return sluice_(words);
  }
  void publish(int count) {
    for (int number = 1; number <= count; ++number) sluice_.store.publish(test::id_of(number));
  }
  GenerationState state() { return test::must(sluice_.store->deployments()).at(0).state; }
  std::vector<std::string> events_in(Generation generation) {
    return sluice_.store.sql("select count(*) from outbox where generation = " + std::to_string(generation));
  }
  test::CommandLine sluice_;
};

TEST_F(GenerationEnd, TheGateOpensWhenNothingIsLeft) {
  const auto open = check();
  EXPECT_EQ(open.exit, Exit::ok);
  EXPECT_EQ(open.out, "generation 1 (draining) can be retired\n");
  EXPECT_EQ(state(), GenerationState::draining) << "a check changes nothing";
  const auto retired = sluice_({"generation", "retire", "1", "--reason", "done"});
  EXPECT_EQ(retired.exit, Exit::ok) << retired.err;
  EXPECT_EQ(retired.out, "1\n");
  EXPECT_EQ(state(), GenerationState::retired);
  EXPECT_THAT(sluice_.store.sql("select reason from audit where action = 'generation.retire' and surface = 'cli'"),
              ElementsAre("done"));
}

TEST_F(GenerationEnd, TheGateSaysWhatRemainsAndWhy) {
  publish(2);
  sluice_.store.fail(test::id_of(1));
  const auto closed = check();
  EXPECT_EQ(closed.exit, Exit::findings);
  EXPECT_EQ(closed.out,
            "generation 1 (draining, 1 left, NO WORKER) cannot be retired:\n"
            "  1 event pending\n"
            "also:\n"
            "  draining, 1 left, NO WORKER: start a worker with --generation 1, or move the events, "
            "`sluice generation reroute 1 --to M`\n"
            "  1 failed event: not in the way, and can be replayed into another generation\n");
  const auto json = sluice_({"generation", "retire", "1", "--check", "-o", "json"});
  EXPECT_EQ(json.exit, Exit::findings);
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"("retirable":false,"pending":1,)"), HasSubstr(R"("abandoned":true)"),
                              HasSubstr(R"("failed":1)")));
}

TEST_F(GenerationEnd, RetireRefusesWhileEventsAreLeftUnlessForced) {
  publish(1);
  const auto refused = sluice_({"generation", "retire", "1"});
  EXPECT_EQ(refused.exit, Exit::conflict);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("1 event pending"), HasSubstr("--force")));
  EXPECT_EQ(sluice_({"generation", "retire", "1", "--dry-run"}).exit, Exit::conflict);
  EXPECT_EQ(state(), GenerationState::draining);
  const auto forced = sluice_({"generation", "retire", "1", "--force"});
  EXPECT_EQ(forced.exit, Exit::ok) << forced.err;
  EXPECT_THAT(forced.err, HasSubstr("1 event left behind"));
  EXPECT_EQ(state(), GenerationState::retired);
}

TEST_F(GenerationEnd, OnlyADrainingGenerationIsRetired) {
  EXPECT_EQ(sluice_({"generation", "retire", "2", "--check"}).exit, Exit::findings);
  const auto live = sluice_({"generation", "retire", "2", "--force"});
  EXPECT_EQ(live.exit, Exit::conflict);
  EXPECT_THAT(live.err, HasSubstr("drain it first"));
  EXPECT_EQ(sluice_({"generation", "retire", "9", "--check"}).exit, Exit::not_found);
  EXPECT_EQ(sluice_({"generation", "retire", "1", "--check", "--force"}).exit, Exit::usage);
}

TEST_F(GenerationEnd, RerouteMovesWhatIsPendingAndIsAudited) {
  publish(3);
  sluice_.interruptions = {false};
  const auto answer = reroute();
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_EQ(answer.out, "3\n");
  EXPECT_THAT(answer.err, AllOf(HasSubstr("moved 3 of 3 events"), HasSubstr("no worker of generation 2 is alive")));
  EXPECT_THAT(events_in(2), ElementsAre("3"));
  EXPECT_THAT(sluice_.store.sql("select actor || ', ' || reason || ', ' || count from audit where action = 'reroute'"),
              ElementsAre("alice@box, no worker is left, 3"));
  EXPECT_EQ(check().exit, Exit::ok);
}

TEST_F(GenerationEnd, ADryRunOfARerouteCounts) {
  publish(3);
  const auto answer = sluice_({"generation", "reroute", "1", "--to", "2", "--dry-run"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_EQ(answer.out, "3\n");
  EXPECT_THAT(answer.err, HasSubstr("would move 3 events from generation 1 to generation 2"));
  EXPECT_EQ(reroute({"--dry-run", "-o", "json"}).out,
            "{\"dry_run\":true,\"from_generation\":1,\"to_generation\":2,\"pending\":3,\"pending_estimated\":false,"
            "\"in_flight\":0,\"moved\":0,"
            "\"complete\":false}\n");
  EXPECT_THAT(events_in(1), ElementsAre("3"));
}

TEST_F(GenerationEnd, ARerouteAsksFirst) {
  publish(3);
  const auto nobody = reroute({});
  EXPECT_EQ(nobody.exit, Exit::usage);
  EXPECT_THAT(nobody.err, HasSubstr("pass --yes to move 3 events"));
  sluice_.terminal = true;
  EXPECT_EQ(reroute({"--no-input"}).exit, Exit::usage);
  sluice_.input = "n\n";
  const auto declined = reroute({});
  EXPECT_EQ(declined.exit, Exit::declined);
  EXPECT_THAT(declined.err, HasSubstr("move 3 events from generation 1 to generation 2? [y/N]"));
  EXPECT_THAT(events_in(1), ElementsAre("3"));
  sluice_.input = "y\n";
  sluice_.interruptions = {false};
  EXPECT_EQ(reroute({}).exit, Exit::ok);
  EXPECT_THAT(events_in(1), ElementsAre("0"));
}

TEST_F(GenerationEnd, ARerouteKeepsItsRateAndCanBeInterrupted) {
  publish(5);
  sluice_.interruptions = {false, true};
  const auto answer = reroute({"--yes", "--rate", "2", "-o", "json"});
  EXPECT_EQ(answer.exit, Exit::interrupted);
  EXPECT_THAT(answer.out, HasSubstr(R"("moved":4,"complete":false)"));
  EXPECT_THAT(answer.err, HasSubstr("stopped after 4 events; run it again to go on"));
  EXPECT_THAT(events_in(2), ElementsAre("4"));
}

TEST_F(GenerationEnd, ARerouteRefusesABadTarget) {
  publish(1);
  sluice_.store.bring_generation(3, GenerationState::retired);
  const auto to = [&](const std::string& target) {
    return sluice_({"generation", "reroute", "1", "--to", target, "--reason", "x", "--yes"});
  };
  EXPECT_EQ(to("3").exit, Exit::conflict);
  EXPECT_EQ(to("9").exit, Exit::not_found);
  EXPECT_EQ(to("1").exit, Exit::usage);
  EXPECT_EQ(to("x").exit, Exit::usage);
  EXPECT_THAT(sluice_({"generation", "reroute", "1", "--reason", "x"}).err, HasSubstr("--to must name"));
  EXPECT_THAT(sluice_({"generation", "reroute", "1", "--to", "2", "--yes"}).err, HasSubstr("--reason is required"));
  EXPECT_EQ(reroute({"--rate", "0"}).exit, Exit::usage);
  EXPECT_THAT(events_in(1), ElementsAre("1"));
}

TEST_F(GenerationEnd, AnErrorBeforeTheFirstBatchIsTheAnswer) {
  publish(1);
  sluice_.failures["reroute"] = {ErrorCode::unavailable, Retry::safe, "the store is away", "", ""};
  const auto answer = reroute();
  EXPECT_EQ(answer.exit, Exit::unavailable);
  EXPECT_EQ(answer.out, "");
}

TEST_F(GenerationEnd, AnErrorAfterSomeBatchesIsPartial) {
  publish(3);
  sluice_.interruptions = {false};
  sluice_.meanwhile.emplace_back([&] { sluice_.store.sql("drop table audit"); });
  const auto answer = reroute({"--yes", "--rate", "2"});
  EXPECT_EQ(answer.exit, Exit::partial);
  EXPECT_EQ(answer.out, "2\n");
  EXPECT_THAT(answer.err, AllOf(HasSubstr("stopped after 2 events: "), HasSubstr("run it again")));
  EXPECT_THAT(events_in(1), ElementsAre("1"));
}

}  // namespace
}  // namespace sluice::cli
