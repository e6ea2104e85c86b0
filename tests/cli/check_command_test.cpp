#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/check.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CheckCommand : public testing::Test {
 protected:
  void publish(int count) {
    for (int number = 1; number <= count; ++number) sluice_.store.publish(test::id_of(number));
  }
  test::CommandLine sluice_;
};

TEST_F(CheckCommand, IsOneLineAndAnExitCode) {
  publish(3);
  EXPECT_EQ(sluice_({"check", "backlog"}).out, "OK backlog 3 | backlog=3;1000;10000;0\n");
  EXPECT_EQ(sluice_({"check", "backlog"}).exit, Exit::ok);
  const auto warning = sluice_({"check", "backlog", "--warn", "3", "--crit", "4"});
  EXPECT_EQ(warning.out, "WARNING backlog 3 | backlog=3;3;4;0\n");
  EXPECT_EQ(warning.exit, Exit::findings);
  const auto critical = sluice_({"check", "backlog", "--crit", "2"});
  EXPECT_THAT(critical.out, StartsWith("CRITICAL backlog 3 | "));
  EXPECT_EQ(critical.exit, Exit::failed);
}

TEST_F(CheckCommand, LagTakesDurations) {
  publish(1);
  sluice_.store.now += std::chrono::seconds{90};
  const auto answer = sluice_({"check", "lag", "--warn", "1m", "--crit", "2m"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_EQ(answer.out, "WARNING lag 90s | lag=90s;60;120;0\n");
}

TEST_F(CheckCommand, EveryGaugeOfAnEmptyStoreIsOk) {
  for (const ops::Gauge& gauge : ops::kGauges) {
    if (gauge.name == "notify") continue;
    const auto answer = sluice_({"check", std::string{gauge.name}});
    EXPECT_EQ(answer.exit, Exit::ok) << answer.out << answer.err;
    EXPECT_THAT(answer.out, StartsWith("OK " + std::string{gauge.name} + " 0"));
  }
}

TEST_F(CheckCommand, AGenerationWithoutWorkersIsNamed) {
  publish(2);
  const auto answer = sluice_({"check", "generation"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out, StartsWith("WARNING generation 2: generation 1 has 2 | "));
}

TEST_F(CheckCommand, JsonHasTheFigures) {
  publish(3);
  EXPECT_EQ(sluice_({"check", "backlog", "-o", "json"}).out,
            R"({"check":"backlog","state":"ok","value":3,"unit":"count","warn":1000,"crit":10000,"detail":""})"
            "\n");
}

TEST_F(CheckCommand, WhatCannotBeReadIsUnknown) {
  sluice_.open_error = {ErrorCode::unavailable, Retry::safe, "the store is away", "store", "start it"};
  const auto answer = sluice_({"check", "dlq"});
  EXPECT_EQ(answer.exit, Exit::unavailable);
  EXPECT_EQ(answer.out, "UNKNOWN dlq: the store is away\n");
  EXPECT_THAT(sluice_({"check", "dlq", "-o", "json"}).out,
              AllOf(HasSubstr(R"("state":"unknown","value":null)"), HasSubstr(R"("detail":"the store is away")")));
  sluice_.open_error.reset();
  sluice_.failures["count_dead"] = {ErrorCode::timeout, Retry::safe, "it took too long", "", ""};
  EXPECT_EQ(sluice_({"check", "dlq"}).exit, Exit::unavailable);
}

TEST_F(CheckCommand, BadThresholdsNameTheFlag) {
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "check");
    const auto answer = sluice_(words);
    EXPECT_EQ(answer.exit, Exit::usage);
    EXPECT_EQ(answer.out, "");
    return answer.err;
  };
  EXPECT_THAT(refused({"backlog", "--warn", "many"}), HasSubstr("--warn must be a whole number like 100, not `many`"));
  EXPECT_THAT(refused({"lag", "--crit", "soon"}), HasSubstr("--crit must be a duration like 30s or 5m, not `soon`"));
  EXPECT_THAT(refused({"dlq", "--warn", "5", "--crit", "4"}), HasSubstr("--crit (4) must not be below --warn (5)"));
  EXPECT_THAT(refused({"weather"}),
              HasSubstr("unknown WHAT `weather`; give backlog, lag, dlq, notify, listener, generation or sink"));
  EXPECT_THAT(refused({"notify"}), HasSubstr("no NOTIFY queue"));
}

TEST_F(CheckCommand, MonitoringPluginsHaveCodesOfTheirOwn) {
  publish(3);
  const auto code = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"check", "backlog", "--nagios"});
    return static_cast<int>(sluice_(words).exit);
  };
  EXPECT_EQ(code({}), 0);
  EXPECT_EQ(code({"--warn", "2"}), 1);
  EXPECT_EQ(code({"--crit", "2"}), 2);
  EXPECT_EQ(code({"--crit", "x"}), 3);
  sluice_.open_error = {ErrorCode::unavailable, Retry::safe, "the store is away", "store", "start it"};
  EXPECT_EQ(code({}), 3);
}

TEST_F(CheckCommand, TheHelpHasTheDefaults) {
  const auto help = sluice_({"check", "--help"}).out;
  EXPECT_THAT(help, AllOf(HasSubstr("backlog 1000, lag 30s, dlq 1, notify 25%, listener 1, generation 1"),
                          HasSubstr("backlog 10000, lag 300s, dlq 100, notify 50%, listener 3, generation 1000")));
}

}  // namespace
}  // namespace sluice::cli
