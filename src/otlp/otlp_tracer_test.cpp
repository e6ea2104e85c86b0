#include "otlp/otlp_tracer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <string>

namespace sluice::otlp {
namespace {

constexpr std::string_view kSampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr std::string_view kUnsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

class OtlpTracerTest : public ::testing::Test {
 protected:
  OtlpTracer tracer(SamplerRules rules = {}) {
    return {queue_, {rules, [this] { return now_ += std::chrono::milliseconds{1}; }, [this] { return ++drawn_; }}};
  }

  SpanQueue queue_{4, 2};
  Timestamp now_{std::chrono::seconds{1'800'000'000}};
  std::uint64_t drawn_ = 0;
};

TEST_F(OtlpTracerTest, ASpanContinuesItsParent) {
  auto own = tracer();
  std::string traceparent;
  {
    const auto span =
        own.start({.kind = SpanKind::consumer, .operation = "process", .destination = "a.b", .parent = kSampled});
    ASSERT_TRUE(span);
    span->set("messaging.system", "sluice");
    span->set("sluice.attempt", 2);
    span->fail("Oops", "it broke");
    traceparent = span->traceparent();
  }
  const auto spans = queue_.take();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].name, "process a.b");
  EXPECT_EQ(spans[0].context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(spans[0].parent_span_id, 0xb7ad6b7169203331U);
  EXPECT_EQ(spans[0].context.traceparent(), traceparent);
  EXPECT_EQ(spans[0].ended - spans[0].started, std::chrono::milliseconds{1});
  EXPECT_TRUE(spans[0].failed);
  EXPECT_EQ(spans[0].attributes.back().key, "error.type");
}

TEST_F(OtlpTracerTest, WhatTheParentDoesNotRecordIsNotRecorded) {
  auto own = tracer();
  EXPECT_EQ(own.start({.operation = "process", .parent = kUnsampled}), nullptr);
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(OtlpTracerTest, ATraceThatIsNotSampledSaysSoToWhatFollows) {
  auto own = tracer({true, 0.0});
  {
    const auto span = own.start({.operation = "publish"});
    ASSERT_TRUE(span);
    EXPECT_FALSE(span->recording());
    EXPECT_FALSE(parse_traceparent(span->traceparent())->is_sampled());
  }
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(OtlpTracerTest, LinksDecideWhereThereIsNoParent) {
  auto own = tracer();
  const std::array<std::string_view, 2> none{kUnsampled, kUnsampled};
  const std::array<std::string_view, 2> one{kUnsampled, kSampled};
  EXPECT_EQ(own.start({.operation = "claim", .links = none}), nullptr);
  own.start({.operation = "claim", .links = one});
  const auto spans = queue_.take();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].parent_span_id, 0U);
  ASSERT_EQ(spans[0].links.size(), 1U);
  EXPECT_EQ(spans[0].links[0].traceparent(), kSampled);
}

TEST_F(OtlpTracerTest, LinksAndTextsAreBounded) {
  auto own = tracer();
  const std::vector<std::string_view> many(kMostLinks + 3, kSampled);
  own.start({.operation = "claim", .links = many})->set("text", std::string(10 * kMostBytes, 'x'));
  const auto spans = queue_.take();
  EXPECT_EQ(spans[0].links.size(), kMostLinks);
  EXPECT_EQ(spans[0].dropped_links, 3U);
  EXPECT_EQ(std::get<std::string>(spans[0].attributes[0].value).size(), kMostBytes);
}

TEST_F(OtlpTracerTest, AFullQueueDropsAndCounts) {
  auto own = tracer();
  for (int i = 0; i < 6; ++i) own.start({.operation = "publish"});
  EXPECT_EQ(queue_.size(), 4U);
  EXPECT_EQ(queue_.dropped(), 2);
  EXPECT_EQ(queue_.take().size(), 2U);
  EXPECT_EQ(queue_.take().size(), 2U);
  EXPECT_TRUE(queue_.take().empty());
  own.start({.operation = "publish"});
  EXPECT_EQ(queue_.size(), 1U);
}

TEST_F(OtlpTracerTest, WhoTakesIsWokenByAFullBatch) {
  auto own = tracer();
  auto waiting = std::async(std::launch::async, [this] { queue_.wait({}, std::chrono::hours{1}); });
  own.start({.operation = "publish"});
  own.start({.operation = "publish"});
  waiting.get();
  EXPECT_EQ(queue_.take().size(), 2U);
}

}  // namespace
}  // namespace sluice::otlp
