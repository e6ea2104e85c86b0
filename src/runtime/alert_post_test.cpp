#include "runtime/alert_post.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "tests/support/alert_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class AlertPosting : public testing::Test {
 protected:
  AlertPosting() {
    options.queue_limit = 3;
    options.attempts = 3;
    options.backoff = {1s, 4s};
    options.clocks = time.clocks();
  }

  AlertPost& post() {
    if (!post_) post_ = std::make_unique<AlertPost>(std::make_unique<ScriptedChannel>(receiver), logger(), options);
    return *post_;
  }
  telemetry::Logger logger() {
    return {[this](std::string_view line) { lines.emplace_back(line); }, telemetry::LogOptions{}};
  }
  void add(int number) { post().add({{}, failure("a", number), 0}); }
  std::optional<Duration> step() { return post().step({}); }
  std::vector<int> numbers() {
    std::vector<int> sent;
    for (const Alert& alert : receiver.calls()) sent.push_back(alert.failure.attempts);
    return sent;
  }

  AlertTime time;
  Receiver receiver;
  AlertPostOptions options;
  std::vector<std::string> lines;
  std::unique_ptr<AlertPost> post_;
};

TEST_F(AlertPosting, SendsInOrder) {
  add(1);
  add(2);
  EXPECT_EQ(post().status().queued, 2);
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(numbers(), (std::vector{1, 2}));
  EXPECT_EQ(post().status().sent, 2);
  EXPECT_TRUE(post().empty());
  EXPECT_TRUE(lines.empty());
}

TEST_F(AlertPosting, AFailureIsTriedAgainAfterABackoff) {
  receiver.answer({away(), away()});
  add(1);
  EXPECT_EQ(step(), 1s);
  EXPECT_EQ(step(), 1s) << "not before its time";
  EXPECT_EQ(receiver.calls().size(), 1U);
  time.advance(1s);
  EXPECT_EQ(step(), 2s);
  time.advance(2s);
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(numbers(), (std::vector{1, 1, 1}));
  const auto status = post().status();
  EXPECT_EQ(status.sent, 1);
  EXPECT_EQ(status.failed, 2);
  EXPECT_EQ(status.dropped, 0);
  EXPECT_EQ(status.last_error, "nobody is there");
  EXPECT_EQ(status.last_error_at, Timestamp{24h + 1s});
}

TEST_F(AlertPosting, AfterTheLastAttemptItIsDroppedAndTheNextHasItsOwn) {
  receiver.answer({away(), away(), away()});
  add(1);
  add(2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(step());
    time.advance(4s);
  }
  EXPECT_EQ(post().status().dropped, 1);
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(numbers(), (std::vector{1, 1, 1, 2}));
  EXPECT_EQ(post().status().sent, 1);
}

TEST_F(AlertPosting, WhatTheReceiverWillNeverTakeIsDroppedAtOnce) {
  receiver.answer({unwanted()});
  add(1);
  add(2);
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(numbers(), (std::vector{1, 2}));
  EXPECT_EQ(post().status().dropped, 1);
}

TEST_F(AlertPosting, NothingIsSentBeforeTheReceiverWantsToHear) {
  receiver.answer({too_many(1min)});
  add(1);
  EXPECT_EQ(step(), 1min);
  add(2);
  time.advance(59s);
  EXPECT_EQ(step(), 1s);
  EXPECT_EQ(receiver.calls().size(), 1U);
  time.advance(1s);
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(numbers(), (std::vector{1, 1, 2}));
}

TEST_F(AlertPosting, AnAcceptedAlertMayAskForSilenceToo) {
  receiver.answer({alert::Sent{true, 30s, "200"}});
  add(1);
  add(2);
  EXPECT_EQ(step(), 30s);
  EXPECT_EQ(numbers(), std::vector{1});
  EXPECT_EQ(post().status().sent, 1);
}

TEST_F(AlertPosting, AFullQueueDropsTheNewest) {
  for (int i = 1; i <= 5; ++i) add(i);
  EXPECT_EQ(post().status().dropped, 2);
  step();
  EXPECT_EQ(numbers(), (std::vector{1, 2, 3}));
}

TEST_F(AlertPosting, AReceiverThatIsAwayIsOneLineAMinuteAndOneWhenItIsBack) {
  options.attempts = 100;
  receiver.answer({away(), away(), away()});
  add(1);
  step();
  time.advance(4s);
  step();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("\"level\":\"error\""));
  EXPECT_THAT(lines[0], HasSubstr("nobody is there"));
  EXPECT_THAT(lines[0], HasSubstr("https://receiver/***"));
  time.advance(1min);
  step();
  EXPECT_EQ(lines.size(), 2U);
  time.advance(1min);
  step();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[2], HasSubstr("alerts go out again"));
}

TEST_F(AlertPosting, GivingUpCountsWhatIsLeft) {
  receiver.answer({away()});
  add(1);
  add(2);
  step();
  post().give_up();
  EXPECT_TRUE(post().empty());
  EXPECT_EQ(post().status().dropped, 2);
}

TEST_F(AlertPosting, AStopWhileSendingIsNotTheReceiversFault) {
  receiver.hang();
  add(1);
  std::stop_source stop;
  std::jthread stopper{[&] {
    receiver.await(1);
    stop.request_stop();
  }};
  EXPECT_EQ(post().step(stop.get_token()), std::nullopt);
  EXPECT_EQ(post().status().failed, 0);
  EXPECT_FALSE(post().empty());
}

}  // namespace
}  // namespace sluice::runtime
