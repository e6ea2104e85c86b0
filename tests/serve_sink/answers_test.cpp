// What a receiver's answer does to an event.
#include "tests/serve_sink/sink_fixture.hpp"
#include "tests/support/closed_port.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(HttpSinkTest, AnEventArrivesAsItsEnvelope) {
  Receiver receiver;
  auto options = local(receiver);
  options.headers = {{"X-Team", "blue"}};
  const auto sink = sink::open_http_sink(options);
  EXPECT_EQ(deliver_one(*sink, 7).kind, Verdict::Kind::handled);
  const std::string request = receiver.next();
  const std::string headers = member(request, "headers");
  EXPECT_EQ(member(request, "body"), numbered_event(7).to_json());
  EXPECT_EQ(member(request, "path"), "/in?key=hush");
  EXPECT_EQ(member(headers, "content-type"), "application/json");
  EXPECT_EQ(member(headers, "webhook-id"), numbered_event(7).event_id().to_string());
  EXPECT_EQ(member(headers, "x-team"), "blue");
  EXPECT_THAT(member(headers, "user-agent"), HasSubstr("sluice/"));
  EXPECT_EQ(member(headers, "webhook-signature"), "") << "there is no secret";
  EXPECT_EQ(member(headers, "expect"), "");
  EXPECT_EQ(sink->status().delivered, 1);
  EXPECT_GT(sink->status().p95_ms, 0);
}

TEST_F(HttpSinkTest, TheIdStaysWhenItIsTriedAgain) {
  Receiver receiver{"503\n"};
  const auto sink = sink::open_http_sink(local(receiver));
  EXPECT_EQ(deliver_one(*sink).error_class, "http_503");
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::handled);
  EXPECT_EQ(member(member(receiver.next(), "headers"), "webhook-id"),
            member(member(receiver.next(), "headers"), "webhook-id"));
}

TEST_F(HttpSinkTest, TheAnswerIsToldWithoutTheAddressesSecrets) {
  Receiver receiver{"500|=out of \x1b[1mcoffee\n"};
  const Verdict verdict = deliver_one(local(receiver));
  EXPECT_EQ(verdict.error_class, "http_500");
  EXPECT_THAT(verdict.message,
              AllOf(HasSubstr("answered 500: out of"), Not(HasSubstr("\x1b")), Not(HasSubstr("hush"))));
}

TEST_F(HttpSinkTest, RetryAfterIsHeard) {
  Receiver receiver{"429|Retry-After: 7\n"};
  EXPECT_EQ(deliver_one(local(receiver)).retry_after, 7s);
}

TEST_F(HttpSinkTest, RedirectsAreNotFollowed) {
  Receiver elsewhere;
  Receiver receiver{"302|Location: " + elsewhere.url() + "\n"};
  const auto sink = sink::open_http_sink(local(receiver));
  EXPECT_EQ(deliver_one(*sink).error_class, "http_302");
  // Whatever had come there before would be told first.
  deliver_one(*sink::open_http_sink(local(elsewhere)), 9);
  EXPECT_EQ(member(member(elsewhere.next(), "headers"), "webhook-id"), numbered_event(9).event_id().to_string());
}

TEST_F(HttpSinkTest, AReceiverThatIsGoneDisablesTheSink) {
  Receiver receiver{"410\n"};
  auto options = local(receiver);
  options.concurrency = 1;
  const auto sink = sink::open_http_sink(options);
  const auto verdicts = deliver(*sink, numbered_events(3));
  EXPECT_TRUE(verdicts[0].terminal);
  EXPECT_EQ(verdicts[0].error_class, "http_410");
  EXPECT_EQ(verdicts[1].kind, Verdict::Kind::deferred) << "it waited behind";
  EXPECT_EQ(verdicts[2].kind, Verdict::Kind::deferred);
  EXPECT_EQ(sink->status().state, sink::SinkState::disabled);
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::deferred);
  sink->take_news();
  sink->follow({});
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::handled);
  EXPECT_EQ(sink->status().state, sink::SinkState::active);
}

TEST_F(HttpSinkTest, NobodyAnswers) {
  Receiver receiver{"hang\n"};
  auto options = local(receiver);
  options.timeout = 200ms;
  EXPECT_EQ(deliver_one(options).error_class, "timeout");
  const ClosedPort closed;
  options.url = "http://127.0.0.1:" + closed.number() + "/";
  EXPECT_EQ(deliver_one(options).error_class, "connection_refused");
  options.url = "http://no-such-host.invalid/";
  options.timeout = 60s;
  EXPECT_EQ(deliver_one(options).error_class, "unknown_host");
  options.url = "https" + receiver.url().substr(4);
  EXPECT_EQ(deliver_one(options).error_class, "tls");
}

TEST_F(HttpSinkTest, AnAnswerThatBreaksOffIsNone) {
  Receiver receiver{"cut\nhalf\n"};
  const auto sink = sink::open_http_sink(local(receiver));
  EXPECT_EQ(deliver_one(*sink).error_class, "connection_lost");
  EXPECT_EQ(deliver_one(*sink).error_class, "connection_lost");
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::handled);
}

TEST_F(HttpSinkTest, OnceTheHeadIsThereTheReceiverHasAnswered) {
  Receiver receiver{"stall\nflood\n"};
  auto options = local(receiver);
  options.timeout = 1s;
  const auto sink = sink::open_http_sink(options);
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::handled);
  EXPECT_EQ(deliver_one(*sink).kind, Verdict::Kind::handled);
}

TEST_F(HttpSinkTest, AHeadWithoutAnEndIsRefused) {
  Receiver receiver{"long-head\n"};
  EXPECT_EQ(deliver_one(local(receiver)).error_class, "answer_too_large");
}

TEST_F(HttpSinkTest, ATrialSaysWhatHappenedAndCountsNowhere) {
  Receiver receiver{"200|=thanks\n503|=closed\n"};
  const auto sink = sink::open_http_sink(local(receiver));
  sink->follow({.state = SinkSwitch::paused});
  const sink::ProbeReport good = sink->probe(numbered_event(1));
  EXPECT_TRUE(good.ok);
  EXPECT_EQ(good.status, "200");
  EXPECT_EQ(good.detail, "200: thanks");
  const sink::ProbeReport bad = sink->probe(numbered_event(1));
  EXPECT_FALSE(bad.ok);
  EXPECT_EQ(bad.status, "http_503");
  EXPECT_EQ(bad.detail, "503: closed");
  EXPECT_EQ(sink->status().delivered + sink->status().failed, 0);
}

}  // namespace
}  // namespace sluice::test
