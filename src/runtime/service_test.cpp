#include "runtime/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class ServiceTest : public testing::Test {
 protected:
  // Runs until `round` has been called `rounds` times.
  void run(int rounds, const std::function<Result<Duration>(int)>& round) {
    std::stop_source source;
    Service service;
    service.name = "tester";
    service.round = [&](const std::stop_token&) {
      const int number = ++called;
      if (number == rounds) source.request_stop();
      return round(number);
    };
    service.finish = [this] { ++finished; };
    const telemetry::Logger logger{[this](std::string_view line) { lines.emplace_back(line); }, {}};
    run_service(source.get_token(), service, {signal, logger, {1ms, 1ms}});
  }

  WakeSignal signal;
  int called = 0;
  int finished = 0;
  std::vector<std::string> lines;
};

TEST_F(ServiceTest, RunsRoundsUntilAStopAndThenFinishes) {
  run(3, [](int) { return Duration::zero(); });
  EXPECT_EQ(called, 3);
  EXPECT_EQ(finished, 1);
  EXPECT_TRUE(lines.empty());
}

TEST_F(ServiceTest, ARingDuringARoundCutsTheRestThatFollows) {
  run(3, [this](int) {
    signal.wake_all();
    return Duration{std::chrono::days{365}};
  });
  EXPECT_EQ(called, 3);
}

TEST_F(ServiceTest, AnErrorIsLoggedAndOutlived) {
  run(3, [](int number) -> Result<Duration> {
    if (number == 1) return Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, "start it"};
    return Duration::zero();
  });
  EXPECT_EQ(called, 3);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], testing::HasSubstr(R"("message":"tester round failed, backing off")"));
  EXPECT_THAT(lines[0], testing::HasSubstr(
                            R"("error":"the store is away","code":"unavailable","retry":"safe","hint":"start it")"));
}

TEST_F(ServiceTest, ARoundThatThrowsIsAnError) {
  run(2, [](int number) -> Result<Duration> {
    if (number == 1) throw std::runtime_error("out of luck");
    return Duration::zero();
  });
  EXPECT_EQ(called, 2);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], testing::HasSubstr(R"("error":"out of luck")"));
}

}  // namespace
}  // namespace sluice::runtime
