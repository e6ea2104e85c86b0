// Searching, sorting and saved filters on the command line, and the local time beside UTC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SearchCommands : public testing::Test {
 protected:
  SearchCommands() {
    for (int number = 1; number <= 3; ++number) {
      sluice_.store.publish(test::id_of(number));
    }
    sluice_.store.sql(
        "update outbox set payload = '{\"order\":{\"id\":4711}}', trace_context = "
        "'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' where id = '" +
        test::id_of(2).to_string() + "'");
  }
  void TearDown() override { ::unsetenv("TZ"); }
  test::CommandLine sluice_;
};

TEST_F(SearchCommands, ByPayloadAndByTraceWithinATimeRange) {
  for (const std::string word : {"data.order.id:4711", "trace:0af7651916cd43dd8448eb211c80319c"}) {
    const auto found = sluice_({"event", "list", "--filter", word + " since:1h", "-o", "ndjson"});
    EXPECT_EQ(found.exit, Exit::ok) << found.err;
    EXPECT_EQ(std::count(found.out.begin(), found.out.end(), '\n'), 1);
    EXPECT_THAT(found.out, HasSubstr(test::id_of(2).to_string()));
    const auto unbounded = sluice_({"event", "list", "--filter", word});
    EXPECT_EQ(unbounded.exit, Exit::usage);
    EXPECT_THAT(unbounded.err, HasSubstr("add since:24h"));
  }
}

TEST_F(SearchCommands, AFieldWithADotOrABlankInItsNameStandsInQuotes) {
  sluice_.store.sql(R"(update outbox set payload = '{"a.b":{"c d":4711}}' where id = ')" + test::id_of(3).to_string() +
                    "'");
  const auto found = sluice_({"event", "list", "--filter", R"(data."a.b"."c d":4711 since:1h)", "-o", "ndjson"});
  EXPECT_EQ(found.exit, Exit::ok) << found.err;
  EXPECT_EQ(std::count(found.out.begin(), found.out.end(), '\n'), 1);
  EXPECT_THAT(found.out, HasSubstr(test::id_of(3).to_string()));
  EXPECT_EQ(sluice_({"filter", "save", "odd", R"(data."a.b"."c d":4711 since:1h)"}).out,
            "since:1h data.\"a.b\".\"c d\":4711\n");
  EXPECT_EQ(sluice_({"event", "list", "--filter", "saved:odd", "-o", "ndjson"}).out, found.out);
  const auto open = sluice_({"event", "list", "--filter", R"(data."a.b:4711 since:1h)"});
  EXPECT_EQ(open.exit, Exit::usage);
  EXPECT_THAT(open.err, AllOf(HasSubstr(R"(data."a.b)"), HasSubstr("closing quote")));
}

TEST_F(SearchCommands, OldestFirst) {
  const auto page = sluice_({"event", "list", "--sort", "oldest", "--limit", "1", "-o", "json"});
  EXPECT_THAT(page.out, AllOf(HasSubstr(test::id_of(1).to_string()), HasSubstr(R"("next_cursor":"o1")")));
  EXPECT_THAT(sluice_({"event", "list", "--sort", "oldest", "--limit", "1", "--cursor", "o1", "-o", "json"}).out,
              HasSubstr(test::id_of(2).to_string()));
  const auto crossed = sluice_({"event", "list", "--cursor", "o1"});
  EXPECT_EQ(crossed.exit, Exit::usage);
  EXPECT_THAT(crossed.err, HasSubstr("--cursor is of a list sorted by oldest"));
  EXPECT_THAT(sluice_({"event", "list", "--sort", "sideways"}).err, HasSubstr("--sort"));
}

TEST_F(SearchCommands, AFilterIsSavedUsedAndRemoved) {
  const auto saved = sluice_({"filter", "save", "late", "data.order.id:4711 since:1h"});
  EXPECT_EQ(saved.exit, Exit::ok) << saved.err;
  EXPECT_EQ(saved.out, "since:1h data.order.id:4711\n");
  EXPECT_THAT(sluice_({"filter", "list"}).out, AllOf(HasSubstr("late"), HasSubstr("data.order.id:4711")));
  EXPECT_THAT(sluice_({"event", "list", "--filter", "saved:late", "-o", "ndjson"}).out,
              AllOf(HasSubstr(test::id_of(2).to_string()), Not(HasSubstr(test::id_of(1).to_string()))));
  EXPECT_EQ(sluice_({"filter", "remove", "late"}).exit, Exit::ok);
  EXPECT_EQ(sluice_({"filter", "remove", "late"}).exit, Exit::not_found);
  EXPECT_EQ(sluice_({"event", "list", "--filter", "saved:late"}).exit, Exit::not_found);
  EXPECT_EQ(sluice_({"filter", "save", "two words", "type:a"}).exit, Exit::usage);
  EXPECT_EQ(sluice_({"filter", "save", "late", "colour:red"}).exit, Exit::usage);
}

TEST_F(SearchCommands, AnOperationMayBeGivenByItsBeginning) {
  sluice_.store.fail(test::id_of(1));
  ASSERT_EQ(sluice_({"dlq", "plan", "--all"}).exit, Exit::ok);
  const std::string id = sluice_.store.sql("select id from operations").front();
  EXPECT_THAT(sluice_({"op", "show", id.substr(0, 13)}).out, HasSubstr(id));
  const auto started = sluice_({"dlq", "replay", "--plan", id.substr(0, 13), "--reason", "fixed", "--detach", "--yes"});
  EXPECT_EQ(started.exit, Exit::ok) << started.err;
  EXPECT_EQ(sluice_({"op", "show", "ffffffff"}).exit, Exit::not_found);
  EXPECT_EQ(sluice_({"op", "show", "abc"}).exit, Exit::usage);
  EXPECT_THAT(sluice_({"op", "show", "abc"}).err,
              HasSubstr("ID: `abc` is not an operation id: give a UUID, or its first 8 digits"));
}

TEST_F(SearchCommands, AnEmbeddedStoreHasNoIndex) {
  const auto answer = sluice_({"db", "index", "payload"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("has no payload index"), HasSubstr("within a time range")));
  EXPECT_EQ(sluice_({"db", "index", "colours"}).exit, Exit::usage);
}

TEST_F(SearchCommands, TheLocalTimeStandsBesideUtc) {
  const std::string id = test::id_of(1).to_string();
  ::setenv("TZ", "UTC0", 1);
  EXPECT_THAT(sluice_({"event", "show", id}).out, AllOf(HasSubstr("occurred_at"), Not(HasSubstr("LOCAL"))));
  ::setenv("TZ", "EST5", 1);
  EXPECT_THAT(sluice_({"event", "show", id}).out, AllOf(HasSubstr("LOCAL"), HasSubstr(" EST)")));
  EXPECT_THAT(sluice_({"event", "show", id, "-o", "json"}).out, Not(HasSubstr("EST"))) << "machines read UTC";
}

}  // namespace
}  // namespace sluice::cli
