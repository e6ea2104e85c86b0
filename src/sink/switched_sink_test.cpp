#include "sink/switched_sink.hpp"

#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

constexpr Timestamp kNow{std::chrono::seconds{1'000}};

EventEnvelope event() {
  EnvelopeDraft draft;
  draft.event_type = "demo.hello";
  draft.source = "demo";
  return EventEnvelope::trusted(draft);
}

class Scripted final : public SwitchedSink {
 public:
  explicit Scripted(double rate = 0)
      : SwitchedSink({"one", "http", "https://example.com/***", rate}, [] { return kNow; }) {}
  using SwitchedSink::disable;

  Verdict answer;
  int carried = 0;
  int told_to_resume = 0;

 private:
  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery&) override {
    carried += static_cast<int>(events.size());
    return std::vector<Verdict>(events.size(), answer);
  }
  void describe(SinkStatus& status) const override {
    status.state = SinkState::open;
    status.resumes_at = kNow;
  }
  void resumed() override { ++told_to_resume; }
};

class SwitchedSinkTest : public testing::Test {
 protected:
  Scripted sink;
  std::vector<EventEnvelope> events{event(), event()};
  Delivery delivery{"tests.one", 1, {0, 0}, {}};
};

TEST_F(SwitchedSinkTest, CarriesAndKeepsAccount) {
  EXPECT_EQ(sink.deliver(events, delivery).size(), 2U);
  const SinkStatus status = sink.status();
  EXPECT_EQ(status.name, "one");
  EXPECT_EQ(status.kind, "http");
  EXPECT_EQ(status.target, "https://example.com/***");
  EXPECT_EQ(status.delivered, 2);
  EXPECT_EQ(status.in_flight, 0);
  EXPECT_EQ(status.state, SinkState::open);
}

TEST_F(SwitchedSinkTest, APausedSinkDefersWithoutCarrying) {
  sink.pause();
  const auto verdicts = sink.deliver(events, delivery);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[1].kind, Verdict::Kind::deferred);
  EXPECT_EQ(verdicts[1].until, kNow + kPausedWait);
  EXPECT_EQ(sink.carried, 0);
  EXPECT_EQ(sink.status().state, SinkState::paused);
  EXPECT_EQ(sink.status().resumes_at, std::nullopt);
}

TEST_F(SwitchedSinkTest, ResumingTakesDeliveriesAgain) {
  sink.pause();
  sink.resume();
  sink.deliver(events, delivery);
  EXPECT_EQ(sink.carried, 2);
  EXPECT_EQ(sink.told_to_resume, 1);
}

TEST_F(SwitchedSinkTest, AReceiverThatIsGoneStaysDisabledUntilResumed) {
  sink.disable();
  sink.pause();
  EXPECT_EQ(sink.status().state, SinkState::disabled);
  EXPECT_EQ(sink.deliver(events, delivery)[0].kind, Verdict::Kind::deferred);
  sink.resume();
  EXPECT_EQ(sink.deliver(events, delivery)[0].kind, Verdict::Kind::handled);
}

TEST_F(SwitchedSinkTest, KeepsToItsRate) {
  Scripted slow{1};
  const auto verdicts = slow.deliver(events, delivery);
  EXPECT_EQ(slow.carried, 1);
  EXPECT_EQ(verdicts[1].until, kNow + std::chrono::seconds{1});
}

TEST_F(SwitchedSinkTest, AProbeGoesThroughAPauseAndIsNotCounted) {
  sink.pause();
  EXPECT_TRUE(sink.probe(events[0]).ok);
  sink.answer = Verdict::failed("http_503", "busy");
  const ProbeReport report = sink.probe(events[0]);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.status, "http_503");
  EXPECT_EQ(report.detail, "busy");
  EXPECT_EQ(sink.carried, 2);
  EXPECT_EQ(sink.status().failed, 0);
}

TEST(SinkState, NamesAreStable) {
  EXPECT_EQ(name(SinkState::active), "active");
  EXPECT_EQ(name(SinkState::paused), "paused");
  EXPECT_EQ(name(SinkState::disabled), "disabled");
  EXPECT_EQ(name(SinkState::open), "open");
  EXPECT_EQ(name(SinkState::half_open), "half_open");
}

}  // namespace
}  // namespace sluice::sink
