#include "telemetry/log.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "core/json.hpp"

namespace sluice::telemetry {
namespace {

class LoggerTest : public testing::Test {
 protected:
  Logger logger(Level minimum = Level::info) {
    return Logger{[this](std::string_view line) { lines.emplace_back(line); },
                  {LogFormat::json, minimum, [] { return Timestamp{std::chrono::seconds{1}}; }},
                  {"sluice", "test", {}, {}}};
  }

  std::string member(std::size_t line, std::string_view name) {
    const std::string_view object = std::string_view{lines.at(line)}.substr(0, lines.at(line).size() - 1);
    const auto members = json::members(object, "line");
    if (!members) return members.error().message;
    for (const auto& found : *members) {
      if (found.name == name) return std::string{found.value};
    }
    return "absent";
  }

  std::vector<std::string> lines;
};

TEST_F(LoggerTest, LinesBelowTheMinimumAreDropped) {
  const Logger log = logger(Level::warn);
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(member(0, "message"), "\"c\"");
  EXPECT_EQ(member(1, "level"), "\"error\"");
  EXPECT_FALSE(log.enabled(Level::info));
}

TEST_F(LoggerTest, CarriesItsContext) {
  const Logger log =
      logger().with_generation(9).with_trace_context("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  log.info("a", {{"n", 1}});
  EXPECT_EQ(member(0, "timestamp"), "\"1970-01-01T00:00:01.000000Z\"");
  EXPECT_EQ(member(0, "generation"), "9");
  EXPECT_EQ(member(0, "trace_id"), "\"0af7651916cd43dd8448eb211c80319c\"");
  EXPECT_EQ(member(0, "environment"), "\"test\"");
  EXPECT_EQ(member(0, "n"), "1");
}

TEST_F(LoggerTest, ABadTraceparentIsNoTrace) {
  logger().with_trace_context("junk").info("a");
  logger().with_trace_context(std::nullopt).info("b");
  EXPECT_EQ(member(0, "trace_id"), "null");
  EXPECT_EQ(member(1, "trace_id"), "null");
}

TEST_F(LoggerTest, OneWithoutOutputDropsEverything) {
  const Logger silent;
  EXPECT_FALSE(silent.enabled(Level::error));
  silent.error("nothing happens", {{"n", 1}});
}

TEST_F(LoggerTest, LinesOfManyThreadsStayWhole) {
  const Logger shared = logger();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([copy = shared.with_generation(thread)] {
        for (int i = 0; i < 500; ++i) copy.info("a line", {{"i", i}});
      });
    }
  }
  ASSERT_EQ(lines.size(), 2000U);
  for (std::size_t line = 0; line < lines.size(); ++line) ASSERT_EQ(member(line, "message"), "\"a line\"");
}

}  // namespace
}  // namespace sluice::telemetry
