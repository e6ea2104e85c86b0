#include "otlp/batch_export.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <future>
#include <utility>

#include "otlp/export_queue.hpp"

namespace sluice::otlp {
namespace {

using http_client::Answer;
using http_client::NoAnswer;

Answer answer_of(int status, std::string body = "{}") {
  Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

class BatchExportTest : public ::testing::Test {
 protected:
  BatchExportOptions options() {
    BatchExportOptions options;
    options.send = [this](const std::string& body, const std::stop_token&) {
      bodies_.push_back(body);
      if (answers_.size() == 1) return answers_.front();
      const Answer answer = answers_.front();
      answers_.pop_front();
      return answer;
    };
    options.logger = telemetry::Logger{[this](std::string_view line) { lines_.emplace_back(line); }, {}};
    options.tries = 3;
    options.target = "http://collector";
    return options;
  }
  void add(int spans) {
    for (int i = 0; i < spans; ++i) queue_.add(SpanRecord{.context = {1, 1, 1, 1}, .name = "publish"});
  }

  SpanQueue queue_{8, 2};
  WaitingRecords<SpanRecord> waiting_{queue_, traces_json, {}};
  std::deque<Answer> answers_{answer_of(200)};
  std::vector<std::string> bodies_;
  std::vector<std::string> lines_;
};

TEST_F(BatchExportTest, SendsBatchesAndRestsWhenLessThanOneWaits) {
  BatchExport exporting{waiting_, options()};
  add(5);
  EXPECT_EQ(exporting.step({}), Duration::zero());
  EXPECT_EQ(exporting.step({}), std::chrono::seconds{1});
  EXPECT_EQ(exporting.step({}), std::chrono::seconds{1});
  EXPECT_EQ(bodies_.size(), 3U);
  EXPECT_TRUE(exporting.empty());
  EXPECT_EQ(exporting.counts().exported, 5);
  EXPECT_EQ(exporting.counts().dropped, 0);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(BatchExportTest, SendsTheSameAgainWhileThereIsNoRoom) {
  for (const int status : {429, 502, 503, 504, 0}) {
    BatchExport exporting{waiting_, options()};
    bodies_.clear();
    add(1);
    answers_ = {answer_of(status), answer_of(status), answer_of(200)};
    EXPECT_EQ(exporting.step({}), std::chrono::seconds{1}) << status;
    EXPECT_EQ(exporting.step({}), std::chrono::seconds{2}) << status;
    exporting.step({});
    ASSERT_EQ(bodies_.size(), 3U) << status;
    EXPECT_EQ(bodies_[0], bodies_[2]);
    EXPECT_EQ(exporting.counts().exported, 1) << status;
  }
}

TEST_F(BatchExportTest, WhatIsRefusedIsNotSentAgain) {
  for (const int status : {301, 400, 401, 404, 413, 500, 501}) {
    BatchExport exporting{waiting_, options()};
    bodies_.clear();
    add(1);
    answers_ = {answer_of(status)};
    exporting.step({});
    exporting.step({});
    EXPECT_EQ(bodies_.size(), 1U) << status;
    EXPECT_EQ(exporting.counts().dropped, 1) << status;
    EXPECT_TRUE(exporting.empty());
  }
}

TEST_F(BatchExportTest, RetryAfterIsHonoured) {
  BatchExport exporting{waiting_, options()};
  add(1);
  answers_ = {answer_of(503)};
  answers_.front().headers["retry-after"] = "17";
  EXPECT_EQ(exporting.step({}), std::chrono::seconds{17});
}

TEST_F(BatchExportTest, ABatchIsTriedAFewTimesAndSaidOnce) {
  BatchExport exporting{waiting_, options()};
  add(4);
  answers_ = {answer_of(0)};
  answers_.front().reason = NoAnswer::connection_refused;
  for (int i = 0; i < 6; ++i) exporting.step({});
  EXPECT_EQ(bodies_.size(), 6U);
  EXPECT_TRUE(exporting.empty());
  EXPECT_EQ(exporting.counts().dropped, 4);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("traces are not exported: the collector cannot be reached: connection_refused"),
            std::string::npos);
  answers_ = {answer_of(200)};
  add(1);
  exporting.step({});
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_NE(lines_[1].find("traces are exported again"), std::string::npos);
}

TEST_F(BatchExportTest, APartialSuccessIsNotRepeated) {
  BatchExport exporting{waiting_, options()};
  add(2);
  answers_ = {answer_of(200, R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}})")};
  exporting.step({});
  exporting.step({});
  EXPECT_EQ(bodies_.size(), 1U);
  EXPECT_EQ(exporting.counts().exported, 1);
  EXPECT_EQ(exporting.counts().dropped, 1);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("too old"), std::string::npos);
}

// The same way for both.
TEST_F(BatchExportTest, LinesOfTheLogAreDroppedAndCountedWhereTheyFindNoRoom) {
  LogQueue lines{4, 2};
  WaitingRecords<LogEntry> waiting{lines, logs_json, {}};
  auto wanted = options();
  wanted.what = "logs";
  BatchExport exporting{waiting, std::move(wanted)};
  for (int i = 0; i < 6; ++i) lines.add(LogEntry{.message = "line " + std::to_string(i)});
  EXPECT_EQ(exporting.counts().dropped, 2);
  answers_ = {answer_of(400)};
  exporting.step({});
  EXPECT_EQ(exporting.counts().dropped, 4);
  EXPECT_EQ(exporting.counts().queued, 2);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("logs are not exported: the collector refuses them: 400"), std::string::npos);
  answers_ = {answer_of(200)};
  exporting.step({});
  EXPECT_EQ(exporting.counts().exported, 2);
  EXPECT_NE(bodies_.back().find("line 3"), std::string::npos);
}

// While a request is under way, whoever has a span to give is not held up.
TEST_F(BatchExportTest, NobodyWaitsForTheCollector) {
  bool gave = false;
  auto wanted = options();
  wanted.send = [&](const std::string&, const std::stop_token&) {
    auto giving = std::async(std::launch::async, [this] { add(1); });
    gave = giving.wait_for(std::chrono::seconds{5}) == std::future_status::ready;
    if (!gave) std::quick_exit(1);  // it holds the lock that the other waits for: nothing here would ever end
    return answer_of(200);
  };
  BatchExport exporting{waiting_, std::move(wanted)};
  add(1);
  exporting.step({});
  EXPECT_TRUE(gave);
}

}  // namespace
}  // namespace sluice::otlp
