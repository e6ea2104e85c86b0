// The webhook channel against a receiver that does what receivers do: it takes, refuses, hangs and is away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/alerts/alerts_fixture.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class WebhookReceiver {
 public:
  /// `orders`: one line per request to come, and whether it is there at all; see the script.
  explicit WebhookReceiver(const std::string& orders = "ready\n")
      : process_({"/usr/bin/env", "python3", SLUICE_SOURCE_DIR "/tests/alerts/webhook_receiver.py"}) {
    process_.write(orders);
    url_ = "http://127.0.0.1:" + process_.read_line() + "/hook?key=secret";
  }

  /// From now on it answers.
  void come_back() {
    process_.write("ready\n");
    process_.read_line();
  }

  /// The next request that came.
  std::string next() { return process_.read_line(); }
  [[nodiscard]] alert::HttpChannelSettings settings() const {
    return {{}, alert::WebhookSettings{url_, "s3cr3t"}, "billing", "test"};
  }

 private:
  Child process_;
  std::string url_;
};

TEST(AlertsWebhook, AFailedEventArrivesWithItsFields) {
  WebhookReceiver receiver;
  AlertingProcess process{receiver.settings()};
  const Uuid id = process.fail("no such account");
  const std::string request = receiver.next();
  EXPECT_EQ(member(request, "answered"), "200") << request;
  EXPECT_EQ(member(request, "path"), "/hook?key=secret");
  EXPECT_EQ(member(member(request, "headers"), "Authorization"), "Bearer s3cr3t");
  const std::string body = member(request, "body");
  EXPECT_EQ(member(body, "event_id"), id.to_string());
  EXPECT_EQ(member(body, "event_type"), "test.failing");
  EXPECT_EQ(member(body, "handler_name"), "test.handler");
  EXPECT_EQ(member(body, "last_error"), "TerminalError: no such account");
  EXPECT_EQ(member(body, "attempts"), "1");
  EXPECT_EQ(member(body, "generation"), "1");
  EXPECT_EQ(member(body, "suppressed"), "0");
  EXPECT_EQ(member(body, "service"), "billing");
  EXPECT_THAT(body, Not(HasSubstr("of the payload")));
  process.stop();
  EXPECT_EQ(process.status().channels[0].sent, 1);
}

TEST(AlertsWebhook, ManyFailuresOfOneKindAreTwoAlerts) {
  WebhookReceiver receiver;
  AlertingProcess process{receiver.settings()};
  for (int number = 0; number < 20; ++number) {
    process.await(process.fail("account " + std::to_string(number) + " is closed"), Status::failed);
  }
  process.stop();
  EXPECT_EQ(member(member(receiver.next(), "body"), "suppressed"), "0");
  EXPECT_EQ(member(member(receiver.next(), "body"), "suppressed"), "18");
  EXPECT_EQ(process.status().suppressed, 19);
  EXPECT_EQ(process.status().channels[0].sent, 2);
}

TEST(AlertsWebhook, ServerErrorsAreTriedAgainWithTheSameId) {
  WebhookReceiver receiver{"500\n502\nready\n"};
  AlertingProcess process{receiver.settings()};
  process.fail("x");
  const std::string first = receiver.next();
  const std::string second = receiver.next();
  const std::string third = receiver.next();
  EXPECT_EQ(member(first, "answered"), "500");
  EXPECT_EQ(member(second, "answered"), "502");
  EXPECT_EQ(member(third, "answered"), "200");
  EXPECT_EQ(member(first, "body"), member(third, "body"));
  process.stop();
  EXPECT_EQ(process.status().channels[0].failed, 2);
  EXPECT_THAT(process.status().channels[0].last_error, HasSubstr("502"));
}

TEST(AlertsWebhook, TooManyRequestsAreObeyed) {
  WebhookReceiver receiver{"429|Retry-After: 1\nready\n"};
  AlertingProcess process{receiver.settings()};
  process.fail("x");
  EXPECT_EQ(member(receiver.next(), "answered"), "429|Retry-After: 1");
  EXPECT_EQ(member(receiver.next(), "answered"), "200");
}

TEST(AlertsWebhook, ASilenceOfAnHourIsNotBrokenByTheStop) {
  WebhookReceiver receiver{"429|Retry-After: 3600\nready\n"};
  AlertingProcess process{receiver.settings()};
  process.fail("x");
  EXPECT_EQ(member(receiver.next(), "answered"), "429|Retry-After: 3600");
  process.await(process.fail("another kind"), Status::failed);
  process.stop();
  EXPECT_EQ(process.status().channels[0].failed, 1);
  EXPECT_EQ(process.status().channels[0].dropped, 2);
}

TEST(AlertsWebhook, ARedirectIsNotFollowed) {
  WebhookReceiver elsewhere;
  const std::string target = elsewhere.settings().webhook->url;
  WebhookReceiver receiver{"307|Location: " + target + "\nready\n"};
  AlertingProcess process{receiver.settings()};
  process.fail("x");
  EXPECT_EQ(member(receiver.next(), "answered"), "307|Location: " + target);
  eventually([&] { return process.status().channels[0].dropped == 1; });
  EXPECT_THAT(process.status().channels[0].last_error, HasSubstr("307"));
}

TEST(AlertsWebhook, DeliveryGoesOnWhileTheReceiverHangs) {
  WebhookReceiver receiver{"hang\nready\n"};
  AlertingProcess process{receiver.settings(), 1ms};
  process.fail("x");
  EXPECT_EQ(member(receiver.next(), "answered"), "hang");
  // From here on the channel waits for an answer that never comes.
  for (int number = 0; number < 50; ++number) {
    process.await(process.publish(an_event()), Status::delivered);
    process.await(process.fail(std::string(1, static_cast<char>('a' + number % 26)) + " kind"), Status::failed);
  }
  EXPECT_EQ(process.status().channels[0].sent, 0);
  process.stop();
  EXPECT_EQ(process.status().channels[0].sent, 0);
  EXPECT_GT(process.status().channels[0].dropped, 0);
}

TEST(AlertsWebhook, AReceiverThatWasAwayAtTheStartHearsItLater) {
  WebhookReceiver receiver{"away\n"};
  AlertingProcess process{receiver.settings()};
  const Uuid id = process.fail("x");
  eventually([&] { return process.status().channels[0].failed >= 2; });
  EXPECT_THAT(process.status().channels[0].last_error, HasSubstr("no answer from the receiver"));
  receiver.come_back();
  EXPECT_EQ(member(member(receiver.next(), "body"), "event_id"), id.to_string());
}

}  // namespace
}  // namespace sluice::test
