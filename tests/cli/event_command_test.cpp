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
    for (int number = 1; number <= 3; ++number) sluice_.data.events.push_back(test::a_record(test::id_of(number)));
    auto& failed = sluice_.data.events.at(1);
    failed.status = Status::failed;
    failed.attempts = 5;
    failed.last_error = "TimeoutError: \033[31mslow";
    failed.claimed_at = failed.published_at;
    failed.failure_history =
        R"([{"cycle":1,"attempts":5,"last_error":"earlier","failed_at":"2026-05-28T20:28:00Z","replayed_by":"bob"}])";
    sluice_.data.now += std::chrono::minutes{5};
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
  sluice_.data.handled.push_back({{"sluice.log", "key"}, sluice_.data.now});
  sluice_.data.audit.push_back({1, sluice_.data.now, {"alice", "cli", "checked"}, "restore", test::id_of(2), 1, "{}"});
  const auto answer = sluice_({"event", "show", test::id_of(2).to_string()});
  EXPECT_EQ(answer.exit, Exit::ok);
  for (const std::string part :
       {"is failed", "Envelope", "State", "Timeline", "Handlers", "sluice.log", "Failure history", "earlier", "Audit",
        "alice", "checked", "12345678901234567890123"}) {
    EXPECT_THAT(answer.out, HasSubstr(part));
  }
  EXPECT_THAT(answer.out, Not(HasSubstr("\033")));
}

TEST_F(Events, ShowAsJsonIsTheWholeRecord) {
  const auto answer = sluice_({"event", "show", test::id_of(2).to_string(), "-o", "json"});
  EXPECT_THAT(answer.out,
              AllOf(HasSubstr(R"("payload":{"n": 12345678901234567890123})"), HasSubstr(R"("timeline":[)")));
}

TEST_F(Events, ShowOfAnUnknownIdIsNotFound) {
  EXPECT_EQ(sluice_({"event", "show", test::id_of(9).to_string()}).exit, Exit::not_found);
  const auto bad = sluice_({"event", "show", "nonsense"});
  EXPECT_EQ(bad.exit, Exit::usage);
  EXPECT_THAT(bad.err, HasSubstr("ID"));
}

TEST_F(Events, StatusCountsByGeneration) {
  const auto table = sluice_({"status"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("fake:store"), HasSubstr("GENERATION")));
  EXPECT_THAT(sluice_({"status", "-o", "json"}).out, HasSubstr(R"("failed":1)"));
}

TEST_F(Events, LookingNeverCreatesAStore) {
  sluice_.store_exists = false;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"event", "list"},
                                                {"event", "show", test::id_of(1).to_string()},
                                                {"status"},
                                                {"generation", "list"},
                                                {"db", "version"},
                                                {"db", "validate"}}) {
    EXPECT_EQ(sluice_(words).exit, Exit::not_found) << words.front();
  }
}

}  // namespace
}  // namespace sluice::cli
