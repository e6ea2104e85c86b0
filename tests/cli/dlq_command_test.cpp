// Dead letters on the command line: groups, lists, replay, discard, restore, acknowledge, export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Dlq : public testing::Test {
 protected:
  void fail(int number, const std::string& message = "slow") {
    sluice_.store.publish(test::id_of(number));
    sluice_.store.fail(test::id_of(number), message);
    sluice_.store.now += seconds{1};
  }
  static std::string id(int number) { return test::id_of(number).to_string(); }
  std::string fingerprint() { return sluice_.store.sql("select fingerprint from outbox limit 1").front(); }
  // A worker at work during the next waits of the command.
  void deliver_meanwhile(int waits) {
    for (int wait = 0; wait < waits; ++wait) {
      sluice_.interruptions.push_back(false);
      sluice_.meanwhile.push_back([this] {
        for (const auto& event : sluice_.store.claim_all()) sluice_.store.settle(event, Outcome::handled());
        sluice_.store.now += seconds{1};
      });
    }
  }
  std::string statuses() {
    std::string all;
    for (const std::string& row : sluice_.store.sql("select status from outbox order by seq")) all += row + ' ';
    return all;
  }
  test::CommandLine sluice_;
};

TEST_F(Dlq, GroupsComeFirst) {
  EXPECT_THAT(sluice_({"dlq", "groups"}).err, HasSubstr("no dead letters match"));
  fail(1);
  fail(2);
  fail(3, "refused");
  const auto table = sluice_({"dlq", "groups"});
  EXPECT_EQ(table.exit, Exit::ok) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("COUNT"), HasSubstr("demo.hello"), HasSubstr("open")));
  const auto json = sluice_({"dlq", "groups", "-o", "json"});
  EXPECT_THAT(json.out, AllOf(StartsWith(R"({"groups":[{"event_type":"demo.hello")"), HasSubstr(R"("count":3})")));
  const auto lines = sluice_({"dlq", "groups", "-o", "ndjson"});
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 2);
}

TEST_F(Dlq, AnAcknowledgedGroupTellsWhenItComesBack) {
  fail(1);
  EXPECT_EQ(sluice_({"dlq", "ack", fingerprint()}).exit, Exit::usage) << "no reason";
  const auto acked = sluice_({"dlq", "ack", fingerprint(), "--reason", "fix is on its way"});
  EXPECT_EQ(acked.exit, Exit::ok) << acked.err;
  EXPECT_EQ(acked.out, "1 group acknowledged\n");
  sluice_.store.now += seconds{1};
  EXPECT_THAT(sluice_({"dlq", "groups"}).out, HasSubstr("acknowledged"));
  fail(2);
  EXPECT_THAT(sluice_({"dlq", "groups"}).out, HasSubstr("came back in generation 1 (1)"));
  EXPECT_THAT(sluice_({"dlq", "ack", fingerprint(), "--undo", "--reason", "no fix", "-o", "json"}).out,
              HasSubstr(R"("acknowledged":false,"groups":1})"));
  EXPECT_THAT(sluice_({"dlq", "groups"}).out, HasSubstr("open"));
  EXPECT_EQ(sluice_({"dlq", "ack", "nothing", "--reason", "x"}).exit, Exit::not_found);
  EXPECT_THAT(sluice_({"dlq", "ack", fingerprint(), "--dry-run"}).err, HasSubstr("dry run: 1 group"));
}

TEST_F(Dlq, AFingerprintIsTakenByItsFirstDigits) {
  fail(1);
  fail(2, "refused");
  const std::string eight = fingerprint().substr(0, 8);
  EXPECT_EQ(sluice_({"dlq", "count", "--filter", "fp:" + eight}).out, "1\n");
  EXPECT_EQ(sluice_({"dlq", "count", "--fingerprint", eight}).out, "1\n");
  EXPECT_THAT(sluice_({"dlq", "list", "--fingerprint", eight, "-o", "ndjson"}).out, HasSubstr(fingerprint()));
  EXPECT_THAT(sluice_({"dlq", "replay", "--fingerprint", eight, "--dry-run", "-o", "json"}).out,
              HasSubstr(R"("count":1)"));
  EXPECT_THAT(sluice_({"dlq", "ack", eight, "--reason", "known", "-o", "json"}).out, HasSubstr(fingerprint()));
  sluice_.store.sql("update failure_groups set fingerprint = 'abcd' || substr(fingerprint, 5)");
  const auto ambiguous = sluice_({"dlq", "list", "--fingerprint", "abcd"});
  EXPECT_EQ(ambiguous.exit, Exit::usage);
  EXPECT_THAT(ambiguous.err, AllOf(HasSubstr("`abcd` begins several fingerprints"), HasSubstr("give more digits")));
  EXPECT_EQ(sluice_({"dlq", "ack", "abcd", "--reason", "known"}).exit, Exit::usage);
}

TEST_F(Dlq, StatusSaysHowManyAreAcknowledged) {
  for (int number = 1; number <= 5; ++number) fail(number, number == 5 ? "refused" : "slow");
  EXPECT_THAT(sluice_({"status"}).out, HasSubstr("5 dead letters need review: `sluice dlq groups`"));
  const auto groups = test::must(sluice_.store->failure_groups({}));
  sluice_({"dlq", "ack", groups.at(0).fingerprint, "--reason", "known"});
  const auto some = sluice_({"status"});
  EXPECT_THAT(some.out, AllOf(HasSubstr("5 dead letters, 4 acknowledged"), HasSubstr("1 dead letter needs review")));
  EXPECT_THAT(sluice_({"status", "-o", "json"}).out,
              HasSubstr(R"("dead_letters":{"count":5,"unacknowledged":1,"capped":false})"));
  sluice_({"dlq", "ack", groups.at(1).fingerprint, "--reason", "known"});
  EXPECT_THAT(sluice_({"status"}).out, Not(HasSubstr("review")));
}

TEST_F(Dlq, ListsPageByPageUnderTheFilter) {
  for (int number = 1; number <= 3; ++number) fail(number, number == 3 ? "refused" : "slow");
  const auto first = sluice_({"dlq", "list", "--limit", "2", "-o", "json"});
  ASSERT_EQ(first.exit, Exit::ok) << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr(id(3)), HasSubstr(id(2)), Not(HasSubstr(id(1))), HasSubstr(R"("failed_at":"2)")));
  const auto note = sluice_({"dlq", "list", "--limit", "2"}).err;
  const std::string cursor = note.substr(note.rfind(' ') + 1, note.find('\n') - note.rfind(' ') - 1);
  EXPECT_THAT(sluice_({"dlq", "list", "--cursor", cursor}).out, AllOf(HasSubstr(id(1)), Not(HasSubstr(id(2)))));
  EXPECT_THAT(sluice_({"dlq", "list", "--filter", "text:REFUSED"}).out, AllOf(HasSubstr(id(3)), Not(HasSubstr(id(1)))));
  EXPECT_EQ(sluice_({"dlq", "count", "--filter", "text:slow"}).out, "2\n");
  EXPECT_EQ(sluice_({"dlq", "count", "--cap", "2"}).out, ">= 2\n");
  EXPECT_EQ(sluice_({"dlq", "count", "-o", "json"}).out, "{\"count\":3,\"capped\":false}\n");
}

TEST_F(Dlq, BadFiltersNameTheFlag) {
  const auto word = sluice_({"dlq", "list", "--filter", "timeout"});
  EXPECT_EQ(word.exit, Exit::usage);
  EXPECT_THAT(word.err, HasSubstr("--filter"));
  EXPECT_THAT(sluice_({"dlq", "groups", "--since", "yesterday"}).err, HasSubstr("--since: `yesterday`"));
  EXPECT_THAT(sluice_({"dlq", "count", "--type", "a", "--filter", "type:b"}).err, HasSubstr("type twice"));
  EXPECT_THAT(sluice_({"dlq", "list", "--limit", "0"}).err, HasSubstr("--limit must be"));
}

TEST_F(Dlq, ShowTellsTheWholeStory) {
  const Subscription meter{.handler_name = "billing.meter"};
  sluice_.store.subscribe(1, {meter});
  fail(1);
  const auto shown = sluice_({"dlq", "show", id(1)});
  EXPECT_EQ(shown.exit, Exit::ok) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("is failed"), HasSubstr("billing.meter"), HasSubstr("out of attempts")));
  EXPECT_THAT(sluice_({"dlq", "show", id(1), "-o", "json"}).out,
              HasSubstr(R"("handlers":[{"handler_name":"billing.meter","state":"out_of_attempts")"));
  EXPECT_EQ(sluice_({"dlq", "show", id(9)}).exit, Exit::not_found);
}

TEST_F(Dlq, OneEventIsReplayedInPlace) {
  fail(1);
  const auto unasked = sluice_({"dlq", "replay", id(1), "--reason", "fixed"});
  EXPECT_EQ(unasked.exit, Exit::usage);
  EXPECT_THAT(unasked.err, HasSubstr("--yes"));
  EXPECT_EQ(sluice_({"dlq", "replay", id(1), "--yes"}).exit, Exit::usage) << "no reason";
  const auto replayed = sluice_({"dlq", "replay", id(1), "--reason", "fixed", "--yes"});
  EXPECT_EQ(replayed.exit, Exit::ok) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("is pending in generation 1, replay 1"));
  const auto again = sluice_({"dlq", "replay", id(1), "--reason", "fixed", "--yes"});
  EXPECT_EQ(again.exit, Exit::conflict);
  EXPECT_THAT(again.err, HasSubstr("only a failed event can be replayed"));
  EXPECT_EQ(sluice_({"dlq", "replay", id(9), "--reason", "fixed", "--yes"}).exit, Exit::not_found);
}

TEST_F(Dlq, ManyAreAnOperationThatIsFollowedToItsEnd) {
  for (int number = 1; number <= 4; ++number) fail(number);
  deliver_meanwhile(10);
  const auto replayed =
      sluice_({"dlq", "replay", "--filter", "text:slow", "--canary", "1", "--reason", "fixed", "--yes", "-o", "json"});
  EXPECT_EQ(replayed.exit, Exit::ok) << replayed.err;
  EXPECT_THAT(replayed.out, AllOf(HasSubstr(R"("state":"finished")"), HasSubstr(R"("delivered":4)"),
                                  HasSubstr(R"("remaining":0)"), HasSubstr(R"("filter":"text:slow")")));
  EXPECT_EQ(statuses(), "delivered delivered delivered delivered ");
  EXPECT_THAT(sluice_.store.sql("select count || ' ' || reason from audit"), ElementsAre("4 fixed"));
  const auto nothing = sluice_({"dlq", "replay", "--filter", "text:slow", "--reason", "fixed", "--yes"});
  EXPECT_EQ(nothing.exit, Exit::ok);
  EXPECT_THAT(nothing.err, HasSubstr("nothing to do"));
}

TEST_F(Dlq, ManyNeedSomebodyWhoSaysYes) {
  for (int number = 1; number <= 3; ++number) fail(number);
  const auto unasked = sluice_({"dlq", "replay", "--all", "--reason", "fixed"});
  EXPECT_EQ(unasked.exit, Exit::usage);
  EXPECT_THAT(unasked.err, HasSubstr("--yes"));
  EXPECT_THAT(sluice_.store.sql("select count(*) from operations"), ElementsAre("0"));
  sluice_.terminal = true;
  sluice_.input = "n\n";
  EXPECT_EQ(sluice_({"dlq", "replay", "--all", "--reason", "fixed"}).exit, Exit::declined);
  EXPECT_EQ(statuses(), "failed failed failed ");
}

TEST_F(Dlq, AHundredAndOneAreConfirmedByTheirNumber) {
  for (int number = 1; number <= 101; ++number) fail(number);
  sluice_.terminal = true;
  sluice_.input = "y\n";
  const auto reflex = sluice_({"dlq", "discard", "--all", "--reason", "bad import"});
  EXPECT_EQ(reflex.exit, Exit::declined);
  EXPECT_THAT(reflex.err, AllOf(HasSubstr("type 101 to go on"), HasSubstr("it takes the number, 101"),
                                HasSubstr("nothing was changed")));
  EXPECT_THAT(sluice_.store.sql("select state from operations"), ElementsAre("cancelled")) << "no plan is left behind";
  sluice_.input = "101\n";
  deliver_meanwhile(5);
  EXPECT_EQ(sluice_({"dlq", "discard", "--all", "--reason", "bad import"}).exit, Exit::ok);
  EXPECT_THAT(sluice_.store.sql("select count(*) from outbox where deleted_at is not null"), ElementsAre("101"));
}

TEST_F(Dlq, ADryRunChangesNothing) {
  fail(1);
  fail(2);
  const auto dry = sluice_({"dlq", "replay", "--all", "--dry-run"});
  EXPECT_EQ(dry.exit, Exit::ok) << dry.err;
  EXPECT_THAT(dry.out, AllOf(HasSubstr("2 events have no subscriber"), HasSubstr("\n2\n")));
  EXPECT_THAT(sluice_({"dlq", "replay", id(1), "--dry-run", "-o", "json"}).out,
              HasSubstr(R"({"dry_run":true,"kind":"replay","count":1)"));
  EXPECT_THAT(sluice_({"dlq", "discard", "--all", "--dry-run"}).err, HasSubstr("would discard 2 events"));
  EXPECT_EQ(statuses(), "failed failed ");
  sluice_.store.now += seconds{1};
  EXPECT_THAT(sluice_({"op", "list"}).err, HasSubstr("no operations yet"));
  EXPECT_THAT(sluice_.store.sql("select count(*) from audit"), ElementsAre("0"));
}

TEST_F(Dlq, APlanIsStartedByItsToken) {
  for (int number = 1; number <= 2; ++number) fail(number);
  const auto planned = sluice_({"dlq", "plan", "--all"});
  ASSERT_EQ(planned.exit, Exit::ok) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("replay 2 events into generation 1"));
  const std::string token = planned.out.substr(planned.out.find("plan ") + 5, 36);
  EXPECT_EQ(statuses(), "failed failed ");
  deliver_meanwhile(5);
  const auto replayed = sluice_({"dlq", "replay", "--plan", token, "--reason", "fixed", "--yes"});
  EXPECT_EQ(replayed.exit, Exit::ok) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("finished: 2 delivered"));
  EXPECT_EQ(sluice_({"dlq", "replay", "--plan", token, "--reason", "again", "--yes"}).exit, Exit::conflict);
}

TEST_F(Dlq, APlanSaysWhichOtherOperationHasItsEvents) {
  for (int number = 1; number <= 2; ++number) fail(number);
  const auto planned = sluice_({"dlq", "plan", "--all"});
  const std::string token = planned.out.substr(planned.out.find("plan ") + 5, 36);
  EXPECT_THAT(planned.err, Not(HasSubstr("also in operation")));
  ASSERT_EQ(sluice_({"dlq", "replay", "--all", "--reason", "the first", "--yes", "--detach"}).exit, Exit::ok);
  const auto told = HasSubstr("2 events are also in operation ");
  EXPECT_THAT(sluice_({"dlq", "replay", "--plan", token, "--dry-run"}).err, told);
  EXPECT_THAT(sluice_({"dlq", "replay", "--all", "--dry-run"}).err, told);
  EXPECT_THAT(sluice_({"dlq", "discard", "--filter", "text:slow", "--dry-run", "-o", "json"}).out,
              HasSubstr(R"("overlaps":[{"operation_id":)"));
  EXPECT_THAT(sluice_({"dlq", "plan", "--all"}).err, told);
  EXPECT_THAT(sluice_({"dlq", "replay", "--plan", token, "--reason", "the second", "--yes", "--detach"}).err, told);
}

TEST_F(Dlq, APlanWhoseSetMovedIsRefused) {
  for (int number = 1; number <= 2; ++number) fail(number);
  const auto planned = sluice_({"dlq", "plan", "--all", "-o", "json"});
  const std::string token = planned.out.substr(planned.out.find(R"("token":")") + 9, 36);
  ASSERT_EQ(sluice_({"dlq", "replay", id(1), "--reason", "first", "--yes"}).exit, Exit::ok);
  const auto refused = sluice_({"dlq", "replay", "--plan", token, "--reason", "fixed", "--yes"});
  EXPECT_EQ(refused.exit, Exit::conflict);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("1 of"), HasSubstr("moved since")));
}

TEST_F(Dlq, CtrlCDetachesAndWatchGoesOn) {
  for (int number = 1; number <= 2; ++number) fail(number);
  const auto detached = sluice_({"dlq", "replay", "--all", "--canary", "1", "--reason", "fixed", "--yes"});
  EXPECT_EQ(detached.exit, Exit::interrupted);
  EXPECT_THAT(detached.err, HasSubstr("detached"));
  const std::string operation = sluice_.store.sql("select id from operations").front();
  deliver_meanwhile(10);
  const auto watched = sluice_({"op", "watch", operation});
  EXPECT_EQ(watched.exit, Exit::ok) << watched.err;
  EXPECT_EQ(statuses(), "delivered delivered ");
}

TEST_F(Dlq, ACanaryThatFailsEndsWithPartial) {
  for (int number = 1; number <= 3; ++number) fail(number);
  for (int wait = 0; wait < 10; ++wait) {
    sluice_.interruptions.push_back(false);
    sluice_.meanwhile.push_back([this] {
      for (const auto& event : sluice_.store.claim_all()) {
        sluice_.store.settle(
            event,
            Outcome::failed({.error_class = "TerminalError", .message = "no", .sqlstate = "", .terminal = true}));
      }
      sluice_.store.now += seconds{1};
    });
  }
  const auto stopped = sluice_({"dlq", "replay", "--all", "--canary", "1", "--reason", "fixed", "--yes"});
  EXPECT_EQ(stopped.exit, Exit::partial);
  EXPECT_THAT(stopped.out,
              AllOf(HasSubstr("stopped"), HasSubstr("canary: 1 of 1 failed again"), HasSubstr("2 remaining")));
}

TEST_F(Dlq, DiscardAndRestoreOne) {
  fail(1);
  EXPECT_EQ(sluice_({"dlq", "discard", id(1), "--reason", "stale", "--yes"}).out, id(1) + " is discarded\n");
  EXPECT_EQ(sluice_({"dlq", "count"}).out, "0\n");
  EXPECT_EQ(sluice_({"dlq", "discard", id(1), "--reason", "stale", "--yes"}).exit, Exit::conflict);
  EXPECT_EQ(sluice_({"dlq", "restore", id(1), "--reason", "not stale", "--yes", "-o", "json"}).out,
            "{\"event_id\":\"" + id(1) + "\",\"discarded\":false}\n");
  EXPECT_EQ(sluice_({"dlq", "count"}).out, "1\n");
}

TEST_F(Dlq, ManyDiscardedOnesAreRestoredByFilter) {
  for (int number = 1; number <= 3; ++number) fail(number);
  deliver_meanwhile(10);
  const auto discarded = sluice_({"dlq", "discard", "--all", "--reason", "mistake", "--yes"});
  ASSERT_EQ(discarded.exit, Exit::ok);
  EXPECT_EQ(discarded.err.find("discarded"), discarded.err.rfind("discarded")) << "said once";
  EXPECT_THAT(sluice_({"dlq", "restore", "--filter", "text:slow", "--dry-run"}).err,
              HasSubstr("would restore 3 events"));
  EXPECT_EQ(sluice_({"dlq", "restore", "--filter", "text:slow", "--reason", "undo", "--yes"}).exit, Exit::ok);
  EXPECT_EQ(sluice_({"dlq", "count"}).out, "3\n");
}

TEST_F(Dlq, AWholesaleChangeMustSaySo) {
  const auto bare = sluice_({"dlq", "replay", "--reason", "x", "--yes"});
  EXPECT_EQ(bare.exit, Exit::usage);
  EXPECT_THAT(bare.err, AllOf(HasSubstr("--filter"), HasSubstr("--all")));
  EXPECT_EQ(sluice_({"dlq", "replay", id(1), "--class", "x", "--reason", "x", "--yes"}).exit, Exit::usage);
  EXPECT_EQ(sluice_({"dlq", "replay", "not-an-id", "--reason", "x", "--yes"}).exit, Exit::usage);
  EXPECT_THAT(sluice_({"dlq", "replay", "--all", "--rate=-1", "--reason", "x"}).err, HasSubstr("--rate"));
  EXPECT_THAT(sluice_({"dlq", "replay", "--all", "--stop-percent", "101", "--reason", "x"}).err,
              HasSubstr("--stop-percent"));
}

TEST_F(Dlq, ExportHidesPrivateValues) {
  fail(1);
  const auto exported = sluice_({"dlq", "export"});
  EXPECT_EQ(exported.exit, Exit::ok) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr(id(1)));
  const auto hidden = sluice_({"dlq", "export", id(1), "--redact", "values"});
  EXPECT_THAT(hidden.out, HasSubstr("[redacted]"));
}

TEST_F(Dlq, AReproIsWrittenOnceAndNeverOverwritten) {
  fail(1);
  const std::string folder = sluice_.store.folder() + "/repro";
  const auto written = sluice_({"dlq", "export", id(1), "--repro", folder});
  ASSERT_EQ(written.exit, Exit::ok) << written.err;
  std::istringstream paths{written.out};
  std::string fixture;
  std::string test;
  std::getline(paths, fixture);
  std::getline(paths, test);
  EXPECT_TRUE(std::filesystem::exists(fixture)) << fixture;
  EXPECT_TRUE(std::filesystem::exists(test)) << test;
  EXPECT_EQ(sluice_({"dlq", "export", id(1), "--repro", folder}).exit, Exit::conflict);
  EXPECT_THAT(sluice_({"dlq", "export", "--repro", folder}).err, HasSubstr("exactly one event"));
}

TEST_F(Dlq, OperationsAreSteered) {
  for (int number = 1; number <= 2; ++number) fail(number);
  const auto started = sluice_({"dlq", "replay", "--all", "--detach", "--reason", "fixed", "--yes", "-o", "json"});
  ASSERT_EQ(started.exit, Exit::ok) << started.err;
  const std::string operation = sluice_.store.sql("select id from operations").front();
  EXPECT_THAT(sluice_({"op", "list"}).out, AllOf(HasSubstr(operation), HasSubstr("running"), HasSubstr("2 remaining")));
  EXPECT_THAT(sluice_({"op", "pause", operation, "--reason", "wait"}).out, HasSubstr("paused"));
  EXPECT_EQ(sluice_({"op", "pause", operation}).exit, Exit::conflict);
  EXPECT_EQ(sluice_({"op", "rate", operation, "7"}).exit, Exit::ok);
  EXPECT_EQ(sluice_({"op", "rate", operation, "fast"}).exit, Exit::usage);
  EXPECT_THAT(sluice_({"op", "show", operation}).out, AllOf(HasSubstr("7/s"), HasSubstr("fixed")));
  EXPECT_THAT(sluice_({"op", "show", operation, "--items"}).out, AllOf(HasSubstr(id(1)), HasSubstr("waiting")));
  EXPECT_THAT(sluice_({"op", "resume", operation}).out, HasSubstr("running"));
  EXPECT_EQ(sluice_({"op", "cancel", operation}).exit, Exit::usage) << "nobody said yes";
  EXPECT_THAT(sluice_({"op", "cancel", operation, "--yes"}).out, HasSubstr("cancelled"));
  EXPECT_EQ(sluice_({"op", "resume", operation}).exit, Exit::conflict);
  EXPECT_EQ(sluice_({"op", "show", id(9)}).exit, Exit::not_found);
  EXPECT_THAT(sluice_({"audit", "list", "--action", "operation.*", "-o", "ndjson"}).out,
              AllOf(HasSubstr("operation.cancel"), HasSubstr("operation.rate"), HasSubstr("operation.pause")));
}

TEST_F(Dlq, TheAuditSaysWhoWhatAndWhy) {
  fail(1);
  ASSERT_EQ(sluice_({"dlq", "replay", id(1), "--reason", "fixed", "--as", "bob", "--yes"}).exit, Exit::ok);
  EXPECT_THAT(sluice_({"audit", "list"}).out,
              AllOf(HasSubstr("bob"), HasSubstr("cli"), HasSubstr("replay"), HasSubstr("fixed")));
  EXPECT_THAT(sluice_({"audit", "list", "--actor", "carol"}).err, HasSubstr("no records match"));
  EXPECT_THAT(sluice_({"audit", "list", "--event", id(1), "-o", "json"}).out, HasSubstr(R"("actor":"bob")"));
  EXPECT_THAT(sluice_({"audit", "list", "--since", "1h", "-o", "ndjson"}).out, StartsWith("{\"id\":"));
  EXPECT_EQ(sluice_({"audit", "list", "--event", "x"}).exit, Exit::usage);
}

TEST_F(Dlq, TailFollows) {
  fail(1);
  sluice_.interruptions.push_back(false);
  sluice_.meanwhile.push_back([this] { sluice_.store.publish(test::id_of(2)); });
  const auto followed = sluice_({"tail"});
  EXPECT_EQ(followed.exit, Exit::ok) << followed.err;
  EXPECT_THAT(followed.out, AllOf(HasSubstr("failed demo.hello " + id(1)), HasSubstr("pending demo.hello " + id(2))));
  const auto filtered = sluice_({"tail", "status:failed", "--once", "-o", "ndjson"});
  EXPECT_THAT(filtered.out, AllOf(HasSubstr(id(1)), Not(HasSubstr(id(2)))));
  EXPECT_EQ(sluice_({"tail", "nonsense"}).exit, Exit::usage);
}

TEST_F(Dlq, StatusIsWatchedUntilCtrlC) {
  sluice_.interruptions = {false, true};
  sluice_.meanwhile.push_back([this] { sluice_.store.publish(test::id_of(1)); });
  const auto watched = sluice_({"status", "--watch", "-o", "ndjson"});
  EXPECT_EQ(watched.exit, Exit::ok) << watched.err;
  EXPECT_EQ(std::count(watched.out.begin(), watched.out.end(), '\n'), 2);
  EXPECT_EQ(sluice_({"status", "--watch", "--every", "soon"}).exit, Exit::usage);
}

}  // namespace
}  // namespace sluice::cli
