#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/in_process.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Serve, SaysWhenItIsReadyAndStopsCleanly) {
  test::CommandLine sluice;
  sluice.interruptions = {false, false, true};
  const auto answer = sluice({"serve"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_EQ(answer.out, "sluice is ready: store " + sluice.store.path() + ", generation 1\n" +
                            "  handlers sluice.log logs every event: the configuration has no subscription\n");
  EXPECT_THAT(answer.err, HasSubstr("nothing listens"));
  EXPECT_THAT(sluice.daemon_log, ElementsAre("started", "stopped"));
  EXPECT_TRUE(sluice.interruptions.empty());
}

TEST(Serve, ReadinessIsJsonWhenAskedFor) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"serve", "-o", "json", "--generation", "3"}).out,
            "{\"ready\":true,\"store\":\"" + sluice.store.path() + "\",\"generation\":3,\"url\":null}\n");
  sluice.daemon_url = "http://127.0.0.1:7311/";
  EXPECT_THAT(sluice({"serve", "-o", "json"}).out, HasSubstr("\"url\":\"http://127.0.0.1:7311/\""));
}

TEST(Serve, WarnsOfAGenerationThatWasNeverAllocated) {
  test::CommandLine sluice;
  EXPECT_THAT(
      sluice({"serve", "--generation", "99"}).err,
      HasSubstr("generation 99 was never allocated, so only events that name it come here: run `sluice generation "
                "allocate 99`, or leave out --generation"));
  EXPECT_THAT(sluice({"serve", "--generation", "1"}).err, testing::Not(HasSubstr("never allocated")));
  ASSERT_EQ(sluice({"generation", "allocate", "99"}).exit, Exit::ok);
  EXPECT_THAT(sluice({"serve", "--generation", "99"}).err, testing::Not(HasSubstr("never allocated")));
}

TEST(Serve, SaysWhereTheConsoleIsAndHowToPublish) {
  test::CommandLine sluice;
  sluice.daemon_url = "http://127.0.0.1:7311/";
  const auto answer = sluice({"serve"});
  EXPECT_THAT(answer.out, HasSubstr("\n  console  http://127.0.0.1:7311/\n"));
  EXPECT_THAT(answer.out, HasSubstr("\n  publish  curl http://127.0.0.1:7311/v1/events -H "));
  EXPECT_THAT(answer.err, testing::Not(HasSubstr("nothing listens")));
}

TEST(Serve, SaysWhoGetsEventsAndThatTheOthersWait) {
  test::CommandLine sluice;
  const test::TempDir folder;
  std::ofstream{folder.file("sluice.toml")}
      << "[subscriptions.\"shop.invoices\"]\nevents = [\"invoice.*\"]\nsink = \"log\"\n";
  EXPECT_THAT(sluice({"serve", "--config", folder.file("sluice.toml")}).out,
              HasSubstr("\n  handlers shop.invoices; what no handler subscribes to stays pending\n"));
}

TEST(Serve, IsNotReadyWhenItCannotStart) {
  test::CommandLine sluice;
  sluice.daemon_error = {ErrorCode::invalid, Retry::never, "worker.batch is wrong", "", ""};
  const auto answer = sluice({"serve"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(sluice({"serve", "--batch", "0"}).exit, Exit::usage);
}

}  // namespace
}  // namespace sluice::cli
