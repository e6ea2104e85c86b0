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
  using SwitchedSink::tell;

  Verdict answer;
  int carried = 0;
  std::vector<std::optional<Timestamp>> circuits;

 private:
  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery&) override {
    carried += static_cast<int>(events.size());
    return std::vector<Verdict>(events.size(), answer);
  }
  void describe(SinkStatus& status) const override {
    status.state = SinkState::open;
    status.resumes_at = kNow;
  }
  void follow_circuit(std::optional<Timestamp> open_until) override { circuits.push_back(open_until); }
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
  sink.follow({.state = SinkSwitch::paused});
  const auto verdicts = sink.deliver(events, delivery);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[1].kind, Verdict::Kind::deferred);
  EXPECT_EQ(verdicts[1].retry_after, kStoppedSinkWait) << "by the store's clock, whatever ours says";
  EXPECT_EQ(sink.carried, 0);
  EXPECT_EQ(sink.status().state, SinkState::paused);
  EXPECT_EQ(sink.status().resumes_at, std::nullopt);
}

TEST_F(SwitchedSinkTest, FollowingTakesDeliveriesAgain) {
  sink.follow({.state = SinkSwitch::paused, .open_until = kNow});
  sink.follow({});
  sink.deliver(events, delivery);
  EXPECT_EQ(sink.carried, 2);
  EXPECT_EQ(sink.circuits, (std::vector<std::optional<Timestamp>>{kNow, std::nullopt}));
}

TEST_F(SwitchedSinkTest, AReceiverThatIsGoneIsNewsForTheOthers) {
  sink.disable("answered 410");
  sink.disable("answered 410");
  EXPECT_EQ(sink.status().state, SinkState::disabled);
  EXPECT_EQ(sink.deliver(events, delivery)[0].kind, Verdict::Kind::deferred);
  sink.follow({});
  EXPECT_EQ(sink.status().state, SinkState::disabled) << "what was learnt here is newer than what the others know";
  EXPECT_TRUE(sink.has_news());
  const auto news = sink.take_news();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].what, SinkNews::What::gone);
  EXPECT_EQ(news[0].reason, "answered 410");
  EXPECT_FALSE(sink.has_news());
  sink.follow({.state = SinkSwitch::disabled});
  EXPECT_EQ(sink.status().state, SinkState::disabled);
  sink.follow({});
  EXPECT_EQ(sink.deliver(events, delivery)[0].kind, Verdict::Kind::handled);
}

TEST_F(SwitchedSinkTest, KeepsToItsRate) {
  Scripted slow{1};
  const auto verdicts = slow.deliver(events, delivery);
  EXPECT_EQ(slow.carried, 1);
  ASSERT_TRUE(verdicts[1].retry_after);
  EXPECT_LE(*verdicts[1].retry_after, std::chrono::seconds{1});
}

TEST_F(SwitchedSinkTest, AProbeGoesThroughAPauseAndIsNotCounted) {
  sink.follow({.state = SinkSwitch::paused});
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
