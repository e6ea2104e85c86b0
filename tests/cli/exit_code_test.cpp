#include "cli/report_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::HasSubstr;

TEST(ExitCode, EveryErrorHasOne) {
  const auto code = [](ErrorCode error) { return static_cast<int>(exit_of({error, Retry::never, "", "", ""})); };
  EXPECT_EQ(code(ErrorCode::invalid), 2);
  EXPECT_EQ(code(ErrorCode::not_found), 3);
  EXPECT_EQ(code(ErrorCode::forbidden), 4);
  EXPECT_EQ(code(ErrorCode::conflict), 5);
  EXPECT_EQ(code(ErrorCode::timeout), 8);
  EXPECT_EQ(code(ErrorCode::unavailable), 10);
  for (const auto error :
       {ErrorCode::schema, ErrorCode::exhausted, ErrorCode::read_only, ErrorCode::corrupt, ErrorCode::internal}) {
    EXPECT_EQ(code(error), 1);
  }
}

TEST(Errors, AreASentenceAndAHintOnStderr) {
  test::CommandLine sluice;
  sluice.open_error = {ErrorCode::unavailable, Retry::safe, "the store is away", "store", "start it"};
  const auto answer = sluice({"status"});
  EXPECT_EQ(answer.exit, Exit::unavailable);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, "sluice: the store is away\n  hint: start it\n");
}

TEST(Errors, AreAnObjectWithJson) {
  test::CommandLine sluice;
  sluice.open_error = {ErrorCode::unavailable, Retry::safe, "away", "store", "start it"};
  EXPECT_EQ(sluice({"status", "-o", "json"}).err,
            "{\"error\":{\"code\":\"unavailable\",\"message\":\"away\",\"field\":\"store\",\"hint\":\"start it\","
            "\"retry\":\"safe\"}}\n");
}

TEST(Errors, OfTheCommandLineItselfAreAnObjectToo) {
  test::CommandLine sluice;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status", "--frob", "-o", "json"},
                                                {"-ojson", "pubish"},
                                                {"--output=ndjson", "status", "--frob"}}) {
    const auto answer = sluice(words);
    EXPECT_EQ(answer.exit, Exit::usage);
    EXPECT_THAT(answer.err, HasSubstr(R"({"error":{"code":"invalid")"));
  }
}

TEST(Errors, CannotDriveATerminal) {
  test::CommandLine sluice;
  sluice.open_error = {ErrorCode::internal, Retry::never, "bad \033[2J name", "", ""};
  EXPECT_EQ(sluice({"status"}).err, "sluice: bad [2J name\n");
}

}  // namespace
}  // namespace sluice::cli
