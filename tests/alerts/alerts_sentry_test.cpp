// The Sentry channel against a real receiver of envelopes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/addresses.hpp"
#include "tests/alerts/alerts_fixture.hpp"
#include "tests/support/node_script.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class SentryReceiver {
 public:
  SentryReceiver()
      : process_({"/usr/bin/env", "node", node_script(directory_, "tests/alerts/sentry_receiver.mjs")}),
        port_(process_.read_line()) {}

  [[nodiscard]] std::string dsn() const { return "http://0123456789abcdef@127.0.0.1:" + port_ + "/42"; }
  /// The next envelope as the receiver understood it: `[header,[[item header,event]]]`.
  std::string next() { return process_.read_line(); }

 private:
  TempDir directory_;
  Child process_;
  std::string port_;
};

std::string element(const std::string& array, std::size_t at) {
  const auto elements = json::elements(array, "array");
  return elements && at < elements->size() ? std::string{(*elements)[at]} : std::string{};
}

TEST(AlertsSentry, TheReceiverParsesTheEnvelope) {
  SentryReceiver receiver;
  const auto dsn = config::parse_sentry_dsn(receiver.dsn(), "test");
  ASSERT_TRUE(dsn);
  AlertingProcess process{{alert::SentrySettings{dsn->endpoint, dsn->public_key}, {}, "billing", "staging"}};
  const Uuid id = process.fail("no such account \\u00e9");

  const std::string envelope = receiver.next();
  const std::string header = element(envelope, 0);
  const std::string item = element(element(envelope, 1), 0);
  const std::string event = element(item, 1);
  EXPECT_THAT(member(header, "event_id"), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_THAT(member(header, "sent_at"), MatchesRegex("20.*Z"));
  EXPECT_EQ(member(element(item, 0), "type"), "event");
  EXPECT_EQ(member(event, "event_id"), member(header, "event_id"));
  EXPECT_EQ(member(event, "platform"), "native");
  EXPECT_EQ(member(event, "level"), "error");
  EXPECT_EQ(member(event, "environment"), "staging");
  EXPECT_THAT(member(event, "release"), HasSubstr("sluice@"));
  const std::string exception = element(member(member(event, "exception"), "values"), 0);
  EXPECT_EQ(member(exception, "type"), "TerminalError");
  EXPECT_EQ(member(exception, "value"), "no such account \xC3\xA9");
  const std::string tags = member(event, "tags");
  EXPECT_EQ(member(tags, "event_id"), id.to_string());
  EXPECT_EQ(member(tags, "event_type"), "test.failing");
  EXPECT_EQ(member(tags, "handler_name"), "test.handler");
  EXPECT_EQ(member(tags, "attempts"), "1");
  EXPECT_EQ(member(member(member(event, "contexts"), "sluice"), "last_error"),
            "TerminalError: no such account \xC3\xA9");
  EXPECT_THAT(element(member(event, "fingerprint"), 1), MatchesRegex("\"[0-9a-f]{16}\""));
  EXPECT_THAT(envelope, Not(HasSubstr("of the payload")));
  process.stop();
  EXPECT_EQ(process.status().channels[0].sent, 1) << process.status().channels[0].last_error;
}

TEST(AlertsSentry, AWrongKeyIsRefusedAndNotTriedAgain) {
  SentryReceiver receiver;
  const auto dsn = config::parse_sentry_dsn(receiver.dsn(), "test");
  ASSERT_TRUE(dsn);
  AlertingProcess process{{alert::SentrySettings{dsn->endpoint, "another"}, {}, "billing", "staging"}};
  process.fail("x");
  eventually([&] { return process.status().channels[0].dropped == 1; });
  const auto status = process.status().channels[0];
  EXPECT_EQ(status.failed, 1);
  EXPECT_THAT(status.last_error, HasSubstr("the receiver answered 400"));
}

}  // namespace
}  // namespace sluice::test
