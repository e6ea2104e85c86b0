// A disk without room, from the command to the file and back: refused in one sentence, nothing
// half-written, and work goes on when there is room again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/process.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kId = "0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e";
const std::string kLargePayload = R"({"pad":")" + std::string(250'000, 'p') + R"("})";

std::string integrity(const std::string& path) {
  sqlite3* database = nullptr;
  std::string verdict;
  const auto collect = [](void* into, int, char** columns, char**) {
    *static_cast<std::string*>(into) += columns[0];
    return 0;
  };
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK ||
      sqlite3_exec(database, "pragma integrity_check", collect, &verdict, nullptr) != SQLITE_OK) {
    verdict = sqlite3_errmsg(database);
  }
  sqlite3_close(database);
  return verdict;
}

void expect_one_sentence_and_what_to_do(const Finished& answer) {
  EXPECT_EQ(answer.exit, 1) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: "), HasSubstr("a.db cannot grow: "), HasSubstr("hint: ")));
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 2) << answer.err;
}

class FullDisk : public testing::Test {
 protected:
  FullDisk() { home_.environment["SLUICE_STORE"] = "sqlite:a.db"; }
  Home home_;
};

TEST_F(FullDisk, APublishIsRefusedAndLeavesNothingBehind) {
  const auto before = home_.sluice({"publish", "demo.before"});
  ASSERT_EQ(before.exit, 0) << before.err;

  // Enough for all that is there, not for the log of a large event.
  home_.file_size_limit = std::filesystem::file_size(home_.path("a.db"));
  ASSERT_LT(*home_.file_size_limit, kLargePayload.size());
  expect_one_sentence_and_what_to_do(
      home_.sluice({"publish", "demo.large", "--id", kId, "--data", "-"}, kLargePayload));
  const auto read = home_.sluice({"event", "list"});
  EXPECT_EQ(read.exit, 0) << "reading needs no room: " << read.err;

  home_.file_size_limit.reset();
  EXPECT_EQ(integrity(home_.path("a.db")), "ok");
  const auto listed = home_.sluice({"event", "list", "-o", "ndjson"});
  EXPECT_EQ(listed.exit, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("demo.before"), Not(HasSubstr("demo.large"))));
  EXPECT_EQ(home_.sluice({"event", "show", kId}).exit, 3);

  const auto again = home_.sluice({"publish", "demo.large", "--id", kId, "--data", "-", "-o", "json"}, kLargePayload);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(R"("outcome":"published")"));
  EXPECT_EQ(integrity(home_.path("a.db")), "ok");
}

TEST_F(FullDisk, AStoreThatCannotBeMadeIsMadeLater) {
  for (const std::uint64_t room : {1024U, 8U * 1024U, 48U * 1024U}) {
    home_.file_size_limit = room;
    SCOPED_TRACE(room);
    expect_one_sentence_and_what_to_do(home_.sluice({"publish", "demo.first"}));
  }
  home_.file_size_limit.reset();
  const auto published = home_.sluice({"publish", "demo.first"});
  EXPECT_EQ(published.exit, 0) << published.err;
  const auto listed = home_.sluice({"event", "list", "-o", "ndjson"});
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 1) << listed.out;
  EXPECT_EQ(integrity(home_.path("a.db")), "ok");
}

}  // namespace
}  // namespace sluice::test
