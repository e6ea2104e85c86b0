#include "sink/circuit_breaker.hpp"

#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

using namespace std::chrono_literals;
using State = CircuitBreaker::State;

class CircuitBreakerTest : public testing::Test {
 protected:
  void fail(int times) {
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(breaker.ask(now), std::nullopt);
      breaker.failed(now);
    }
  }
  Timestamp now{1h};
  CircuitBreaker breaker{{.failures = 3, .rest = 30s, .glance = 1s}};
};

TEST_F(CircuitBreakerTest, OpensAfterFailuresInARow) {
  fail(2);
  breaker.succeeded();
  fail(2);
  EXPECT_EQ(breaker.state(), State::closed);
  fail(1);
  EXPECT_EQ(breaker.state(), State::open);
  EXPECT_EQ(breaker.resumes_at(), now + 30s);
  EXPECT_EQ(breaker.ask(now + 10s), now + 30s);
}

TEST_F(CircuitBreakerTest, AfterItsRestOneTriesAndTheOthersWait) {
  fail(3);
  now += 30s;
  EXPECT_EQ(breaker.ask(now), std::nullopt);
  EXPECT_EQ(breaker.state(), State::half_open);
  EXPECT_EQ(breaker.ask(now), now + 1s);
  EXPECT_EQ(breaker.resumes_at(), std::nullopt);
}

TEST_F(CircuitBreakerTest, ATryThatSucceedsClosesIt) {
  fail(3);
  now += 30s;
  breaker.ask(now);
  breaker.succeeded();
  EXPECT_EQ(breaker.state(), State::closed);
  EXPECT_EQ(breaker.ask(now), std::nullopt);
  fail(2);
  EXPECT_EQ(breaker.state(), State::closed) << "it counts from the beginning";
}

TEST_F(CircuitBreakerTest, ATryThatFailsOpensItAgain) {
  fail(3);
  now += 30s;
  breaker.ask(now);
  breaker.failed(now + 5s);
  EXPECT_EQ(breaker.state(), State::open);
  EXPECT_EQ(breaker.resumes_at(), now + 35s);
}

TEST_F(CircuitBreakerTest, AnAbandonedTryIsMadeByAnother) {
  fail(3);
  now += 30s;
  breaker.ask(now);
  breaker.abandoned();
  EXPECT_EQ(breaker.ask(now), std::nullopt);
}

TEST_F(CircuitBreakerTest, LateAnswersOfBeforeChangeNothing) {
  fail(3);
  breaker.failed(now + 10s);
  EXPECT_EQ(breaker.resumes_at(), now + 30s);
  breaker.succeeded();
  EXPECT_EQ(breaker.state(), State::open);
}

TEST_F(CircuitBreakerTest, OpensWhenAnotherProcessHasFoundItOpen) {
  breaker.open_until(now + 20s);
  EXPECT_EQ(breaker.ask(now), now + 20s);
  breaker.open_until(now + 10s);
  EXPECT_EQ(breaker.ask(now), now + 20s) << "the later of the two";
  now += 20s;
  EXPECT_EQ(breaker.ask(now), std::nullopt) << "one tries";
  breaker.open_until(now + 30s);
  breaker.succeeded();
  EXPECT_EQ(breaker.state(), State::closed) << "its own try told more";
}

TEST_F(CircuitBreakerTest, AnOperatorClosesIt) {
  fail(3);
  breaker.reset();
  EXPECT_EQ(breaker.state(), State::closed);
  fail(2);
  EXPECT_EQ(breaker.state(), State::closed);
}

}  // namespace
}  // namespace sluice::sink
