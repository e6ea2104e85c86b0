// No URL makes the sink connect to where it may not.
#include "tests/serve_sink/sink_fixture.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(HttpSinkTest, InnerAddressesAreRefusedHoweverTheyAreWritten) {
  Receiver receiver;
  auto options = local(receiver);
  options.allowed.clear();
  for (const char* host : {"127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "[::1]", "[::ffff:127.0.0.1]",
                           "169.254.169.254", "10.0.0.1"}) {
    options.url = receiver.url(host);
    const Verdict verdict = deliver_one(options);
    EXPECT_EQ(verdict.error_class, "ssrf_refused") << host << ": " << verdict.message;
  }
  // Whatever had come before would be told first.
  deliver_one(*sink::open_http_sink(local(receiver)), 9);
  EXPECT_EQ(member(member(receiver.next(), "headers"), "webhook-id"), numbered_event(9).event_id().to_string());
}

TEST_F(HttpSinkTest, ARefusalSaysHowToAllowIt) {
  Receiver receiver;
  auto options = local(receiver);
  options.allowed.clear();
  EXPECT_THAT(deliver_one(options).message, AllOf(HasSubstr("loopback"), HasSubstr("allow = [\"127.0.0.1\"]")));
}

TEST_F(HttpSinkTest, AConnectionOfOneSinkIsNotAnothers) {
  Receiver receiver;
  const auto allowed = sink::open_http_sink(local(receiver));
  EXPECT_EQ(deliver_one(*allowed).kind, Verdict::Kind::handled);
  auto options = local(receiver);
  options.allowed.clear();
  EXPECT_EQ(deliver_one(options).error_class, "ssrf_refused");
}

TEST_F(HttpSinkTest, TheProxyOfTheEnvironmentIsNotAsked) {
  Receiver receiver;
  ASSERT_EQ(::setenv("http_proxy", "http://127.0.0.1:1/", 1), 0);
  EXPECT_EQ(deliver_one(local(receiver)).kind, Verdict::Kind::handled);
  ASSERT_EQ(::unsetenv("http_proxy"), 0);
}

TEST_F(HttpSinkTest, OnlyHttpIsSpoken) {
  Receiver receiver;
  auto options = local(receiver);
  options.url = "file:///etc/passwd";
  EXPECT_EQ(deliver_one(options).kind, Verdict::Kind::failed);
}

}  // namespace
}  // namespace sluice::test
