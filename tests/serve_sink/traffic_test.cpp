// Many deliveries at once, and when there are none.
#include <set>
#include <thread>

#include "tests/serve_sink/sink_fixture.hpp"

namespace sluice::test {
namespace {

using sink::SinkState;

std::string repeated(const std::string& line, int times) {
  std::string lines;
  for (int i = 0; i < times; ++i) lines += line;
  return lines;
}

TEST_F(HttpSinkTest, HundredsAreUnderWayAtOnce) {
  constexpr int kCount = 200;
  // Nobody gets an answer before all are there.
  Receiver receiver{repeated("meet 200\n", kCount)};
  auto options = local(receiver);
  options.concurrency = 256;
  const auto sink = sink::open_http_sink(options);
  for (const Verdict& verdict : deliver(*sink, numbered_events(kCount))) {
    EXPECT_EQ(verdict.kind, Verdict::Kind::handled) << verdict.message;
  }
}

TEST_F(HttpSinkTest, ConnectionsAreUsedAgainAndTheLimitHolds) {
  constexpr int kCount = 100;
  Receiver receiver{repeated("meet 3\n", 3)};
  auto options = local(receiver);
  options.concurrency = 3;
  const auto sink = sink::open_http_sink(options);
  const auto verdicts = deliver(*sink, numbered_events(kCount));
  EXPECT_EQ(sink->status().delivered, kCount);
  std::set<std::string> clients;
  std::set<std::string> bodies;
  for (int i = 0; i < kCount; ++i) {
    const std::string request = receiver.next();
    clients.insert(member(request, "client"));
    bodies.insert(member(request, "body"));
    EXPECT_LE(std::stoi(member(request, "peak")), 3);
  }
  EXPECT_EQ(clients.size(), 3U);
  EXPECT_EQ(bodies.size(), static_cast<std::size_t>(kCount));
}

TEST_F(HttpSinkTest, EveryVerdictBelongsToItsEvent) {
  Receiver receiver{"200\n500\n200\n404\n"};
  auto options = local(receiver);
  options.concurrency = 1;
  const auto verdicts = deliver(*sink::open_http_sink(options), numbered_events(4));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::handled);
  EXPECT_EQ(verdicts[1].error_class, "http_500");
  EXPECT_EQ(verdicts[2].kind, Verdict::Kind::handled);
  EXPECT_EQ(verdicts[3].error_class, "http_404");
}

TEST_F(HttpSinkTest, SeveralThreadsShareOneSink) {
  Receiver receiver;
  const auto sink = sink::open_http_sink(local(receiver));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (const Verdict& verdict : deliver(*sink, numbered_events(50))) {
          EXPECT_EQ(verdict.kind, Verdict::Kind::handled) << verdict.message;
        }
      });
    }
  }
  EXPECT_EQ(sink->status().delivered, 200);
  EXPECT_EQ(sink->status().in_flight, 0);
}

TEST_F(HttpSinkTest, AStopEndsWhatWaitsAndWhatIsUnderWay) {
  Receiver receiver{"hang\n"};
  auto options = local(receiver);
  options.concurrency = 1;
  const auto sink = sink::open_http_sink(options);
  const std::jthread stopper{[&] {
    receiver.next();  // the first one is there
    stop.request_stop();
  }};
  const auto verdicts = deliver(*sink, numbered_events(2));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::stopped);
  EXPECT_EQ(verdicts[1].kind, Verdict::Kind::deferred) << "it had not begun";
}

TEST_F(HttpSinkTest, AStopOfBeforeLetsNothingBegin) {
  Receiver receiver;
  stop.request_stop();
  const auto sink = sink::open_http_sink(local(receiver));
  for (const Verdict& verdict : deliver(*sink, numbered_events(100))) EXPECT_NE(verdict.kind, Verdict::Kind::handled);
}

TEST_F(HttpSinkTest, ACircuitOpensRestsAndCloses) {
  Receiver receiver{"500\n500\n500\n"};
  auto options = local(receiver);
  options.concurrency = 1;
  options.breaker = {.failures = 3, .rest = 30s};
  std::atomic<std::int64_t> passed = 0;
  options.clock = [&passed] { return Timestamp{1h + std::chrono::seconds{passed}}; };
  const auto sink = sink::open_http_sink(options);
  const auto verdicts = deliver(*sink, numbered_events(5));
  EXPECT_EQ(verdicts[2].error_class, "http_500");
  EXPECT_EQ(verdicts[3].kind, Verdict::Kind::deferred);
  EXPECT_EQ(verdicts[3].retry_after, 30s) << "a duration: nobody's clock but the store's makes a time of it";
  EXPECT_EQ(sink->status().state, SinkState::open);
  EXPECT_EQ(sink->status().resumes_at, Timestamp{1h + 30s});
  passed = 30;
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::handled);
  EXPECT_EQ(sink->status().state, SinkState::active);
}

TEST_F(HttpSinkTest, AnEventsOwnFaultDoesNotOpenTheCircuit) {
  Receiver receiver{repeated("422\n", 5)};
  auto options = local(receiver);
  options.breaker = {.failures = 3};
  const auto sink = sink::open_http_sink(options);
  deliver(*sink, numbered_events(5));
  EXPECT_EQ(sink->status().state, SinkState::active);
}

}  // namespace
}  // namespace sluice::test
