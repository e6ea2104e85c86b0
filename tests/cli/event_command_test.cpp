#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Events : public testing::Test {
 protected:
  Events() {
    test::EmbeddedStore& store = sluice_.store;
    for (int number = 1; number <= 3; ++number) store.publish(test::id_of(number));
    const auto failed = test::id_of(2);
    store.fail(failed, "earlier");
    test::must(store->replay(failed, 1, {"bob", "cli", "try again"}));
    store.fail(failed, "slow", {"sluice.log"});
    // Sluice itself makes control characters visible; a row that was written by hand may hold them.
    store.sql("update outbox set last_error = 'TimeoutError: ' || char(27) || '[31mslow' where status = 'failed'");
    store.now += std::chrono::minutes{5};
  }
  test::CommandLine sluice_;
};

TEST_F(Events, ListAsATable) {
  const auto answer = sluice_({"event", "list"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr(test::id_of(3).to_string()), HasSubstr("5m"), HasSubstr("[31mslow"),
                                Not(HasSubstr("\033"))));
}

TEST_F(Events, ListFiltersAndPages) {
  const auto failed = sluice_({"event", "list", "--status", "failed", "-o", "ndjson"});
  EXPECT_EQ(std::count(failed.out.begin(), failed.out.end(), '\n'), 1);
  EXPECT_THAT(failed.out, HasSubstr(test::id_of(2).to_string()));
  const auto page = sluice_({"event", "list", "--limit", "1", "-o", "json"});
  EXPECT_THAT(page.out, HasSubstr(R"("next_cursor":"3")"));
  EXPECT_THAT(sluice_({"event", "list", "--limit", "1", "--cursor", "3", "-o", "json"}).out,
              HasSubstr(test::id_of(2).to_string()));
  EXPECT_THAT(sluice_({"event", "list", "--limit", "1"}).err, HasSubstr("--cursor 3"));
}

TEST_F(Events, SinceIsADurationOrATime) {
  EXPECT_THAT(sluice_({"event", "list", "--since", "1m"}).err, HasSubstr("no events match"));
  EXPECT_THAT(sluice_({"event", "list", "--since", "10m", "-o", "ndjson"}).out, HasSubstr("demo.hello"));
  EXPECT_THAT(sluice_({"event", "list", "--since", "2026-05-28T20:26:40Z", "-o", "ndjson"}).out,
              HasSubstr("demo.hello"));
  const auto bad = sluice_({"event", "list", "--since", "yesterday"});
  EXPECT_EQ(bad.exit, Exit::usage);
  EXPECT_THAT(bad.err, HasSubstr("--since"));
}

TEST_F(Events, APendingEventIsChanged) {
  const std::string id = test::id_of(1).to_string();
  const std::vector<std::string> why{"--reason", "a test", "--yes"};
  const auto change = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "event");
    words.insert(words.end(), why.begin(), why.end());
    return sluice_(words);
  };
  EXPECT_THAT(change({"reschedule", id, "--at", "2h"}).out, HasSubstr("is scheduled for "));
  EXPECT_THAT(sluice_({"event", "show", id}).out, AllOf(HasSubstr("scheduled for"), Not(HasSubstr("next retry"))));
  EXPECT_THAT(change({"run-now", id}).out, HasSubstr("is due"));
  EXPECT_THAT(change({"cancel", id}).out, HasSubstr("is cancelled"));
  EXPECT_THAT(sluice_({"event", "list", "--discarded"}).out, HasSubstr("pending (cancelled)"));
  EXPECT_EQ(change({"cancel", id}).exit, Exit::conflict);
  EXPECT_THAT(change({"restore", id}).out, HasSubstr("is pending again"));
  const auto late = change({"reschedule", id, "--at", "2001-01-01T00:00:00Z"});
  EXPECT_EQ(late.exit, Exit::usage);
  EXPECT_THAT(late.err, HasSubstr("--at"));
}

TEST_F(Events, AChangeIsAskedFor) {
  const std::string id = test::id_of(1).to_string();
  EXPECT_EQ(sluice_({"event", "cancel", id, "--yes"}).exit, Exit::usage) << "no reason";
  EXPECT_THAT(sluice_({"event", "cancel", id, "--reason", "why"}).err, HasSubstr("pass --yes to cancel it"));
  EXPECT_THAT(sluice_({"event", "run-now", id, "--reason", "why"}).err, HasSubstr("pass --yes to run it now"));
  EXPECT_THAT(sluice_({"event", "cancel", id, "--reason", "why", "--dry-run"}).err, HasSubstr("would cancel it"));
  EXPECT_FALSE(sluice_.store->get_event(test::id_of(1))->deleted_at);
}

TEST_F(Events, AnIdMayBeGivenByItsBeginning) {
  const std::string id = test::id_of(1).to_string();
  EXPECT_EQ(sluice_({"event", "show", id.substr(0, 35)}).exit, Exit::usage) << "there are several";
  const auto several = sluice_({"event", "show", id.substr(0, 8)});
  EXPECT_THAT(several.err, AllOf(HasSubstr("begins several event ids"), HasSubstr(id)));
  EXPECT_THAT(sluice_({"event", "show", "abc"}).err, HasSubstr("is not an event id"));
}

TEST_F(Events, ListRefusesBadFlags) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--limit", "0"},
                                                {"--limit", "many"},
                                                {"--status", "lost"},
                                                {"--workspace", "x"},
                                                {"--generation", "x"},
                                                {"--cursor", "x"}}) {
    std::vector<std::string> line{"event", "list"};
    line.insert(line.end(), words.begin(), words.end());
    EXPECT_EQ(sluice_(line).exit, Exit::usage) << words.front() << ' ' << words.back();
  }
}

TEST_F(Events, ShowTellsTheStory) {
  test::EmbeddedStore& store = sluice_.store;
  ASSERT_TRUE(store->discard(test::id_of(2), {"alice", "cli", "of no use"}));
  ASSERT_TRUE(store->restore(test::id_of(2), {"alice", "cli", "checked"}));
  const auto answer = sluice_({"event", "show", test::id_of(2).to_string()});
  EXPECT_EQ(answer.exit, Exit::ok);
  for (const std::string part :
       {"is failed", "Envelope", "State", "Timeline", "Handlers", "sluice.log", "Failure history", "earlier", "Audit",
        "alice", "checked", "12345678901234567890123"}) {
    EXPECT_THAT(answer.out, HasSubstr(part));
  }
  EXPECT_THAT(answer.out, Not(HasSubstr("\033")));
}

TEST_F(Events, ADeadLetterIsReplayedWithAnotherPayload) {
  const std::string id = test::id_of(2).to_string();
  const std::vector<std::string> edit{"dlq",      "replay", id,     "--data", R"({"n":9007199254740993})",
                                      "--reason", "a typo", "--yes"};
  EXPECT_EQ(sluice_(edit).exit, Exit::forbidden);
  sluice_.environment["SLUICE_EDIT_REPLAY"] = "true";
  const auto edited = sluice_(edit);
  EXPECT_EQ(edited.exit, Exit::ok) << edited.err;
  EXPECT_THAT(edited.out, HasSubstr("is pending in generation 1, replay 2"));
  const auto shown = sluice_({"event", "show", id}).out;
  EXPECT_THAT(shown, AllOf(HasSubstr("9007199254740993"), HasSubstr("a typo")));
  EXPECT_THAT(shown, HasSubstr("payload before replay 2: {\"n\":12345678901234567890123}"));
  EXPECT_THAT(shown, Not(HasSubstr("payload before replay 1")));
}

TEST_F(Events, ShowTellsWhatTheReceiverSaidAndWhereTheTraceIs) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  sluice_.store.sql(
      "insert into attempts (event_id, number, claim_seq, worker, started_at, duration_us, outcome, error, response, "
      "trace_id, recorded_at) select id, 1, 1, 'worker-1', published_at, 7, 'failed', 'http_503', 'come back later', "
      "'" +
      trace + "', published_at from outbox where status = 'failed'");
  const std::vector<std::string> show{"event", "show", test::id_of(2).to_string()};
  EXPECT_THAT(sluice_(show).out, HasSubstr("\n    answer: come back later\n    trace: " + trace + '\n'));
  sluice_.environment["SLUICE_TRACE_URL"] = "https://traces.example.com/{trace_id}";
  EXPECT_THAT(sluice_(show).out, HasSubstr("\n    trace: https://traces.example.com/" + trace + '\n'));
}

TEST_F(Events, ShowAsJsonIsTheWholeRecord) {
  const auto answer = sluice_({"event", "show", test::id_of(2).to_string(), "-o", "json"});
  EXPECT_THAT(answer.out,
              AllOf(HasSubstr(R"("payload":{"n": 12345678901234567890123})"), HasSubstr(R"("timeline":[)")));
}

TEST_F(Events, ShowNamesWhatAPendingEventWaitsFor) {
  const std::string id = test::id_of(7).to_string();
  ASSERT_EQ(sluice_({"publish", "demo.later", "--id", id, "--after", "1h"}).exit, Exit::ok);
  const auto answer = sluice_({"event", "show", id});
  EXPECT_THAT(answer.out, HasSubstr("scheduled for " + to_iso8601(sluice_.store.now + std::chrono::hours{1}) +
                                    "; nobody subscribes to demo.later in generation 1"));
  EXPECT_THAT(sluice_({"event", "show", id, "-o", "json"}).out,
              AllOf(HasSubstr(R"("waits_for":[{"what":"time","until":")"), HasSubstr(R"({"what":"subscriber",)")));
}

TEST_F(Events, ShowOfAnUnknownIdIsNotFound) {
  EXPECT_EQ(sluice_({"event", "show", test::id_of(9).to_string()}).exit, Exit::not_found);
  const auto bad = sluice_({"event", "show", "nonsense"});
  EXPECT_EQ(bad.exit, Exit::usage);
  EXPECT_THAT(bad.err, HasSubstr("ID"));
}

TEST_F(Events, StatusCountsByGeneration) {
  const auto table = sluice_({"status"});
  EXPECT_THAT(table.out, AllOf(HasSubstr(sluice_.store.path()), HasSubstr("GENERATION")));
  EXPECT_THAT(sluice_({"status", "-o", "json"}).out, HasSubstr(R"("failed":1)"));
}

TEST(NoStore, LookingNeverCreatesAStore) {
  test::CommandLine sluice{test::EmbeddedStore::Start::no_file};
  for (const std::vector<std::string>& words : {std::vector<std::string>{"event", "list"},
                                                {"event", "show", test::id_of(1).to_string()},
                                                {"status"},
                                                {"generation", "list"},
                                                {"generation", "retire", "1", "--check"},
                                                {"generation", "reroute", "1", "--to", "2", "--reason", "x", "--yes"},
                                                {"subscription", "list"},
                                                {"worker", "list"},
                                                {"retention", "sweep"},
                                                {"db", "version"},
                                                {"db", "validate"}}) {
    EXPECT_EQ(sluice(words).exit, Exit::not_found) << words.front();
  }
  EXPECT_FALSE(sluice.store.exists());
}

}  // namespace
}  // namespace sluice::cli
