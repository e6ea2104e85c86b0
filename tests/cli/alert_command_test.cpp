#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(AlertCommand, WithoutAReceiverItNamesTheKeys) {
  test::CommandLine sluice;
  const auto answer = sluice({"alert", "test"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("alerts.sentry_dsn"), HasSubstr("alerts.webhook_url"),
                                HasSubstr("SLUICE_SENTRY_DSN"), HasSubstr("SLUICE_ALERT_WEBHOOK_URL")));
}

TEST(AlertCommand, SendsOneToEachReceiver) {
  test::CommandLine sluice;
  sluice.environment["SENTRY_DSN"] = "https://secret@h/1";
  sluice.environment["SLUICE_ALERT_WEBHOOK_URL"] = "https://h/secret";
  std::vector<Alert> received;
  sluice.receiver = [&](const Alert& alert) {
    received.push_back(alert);
    return alert::Sent{true, {}, "200"};
  };
  const auto answer = sluice({"alert", "test"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("sentry   https://sentry.example/***"), HasSubstr("sent"),
                                HasSubstr("webhook  https://webhook.example/***"), Not(HasSubstr("secret"))));
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].failure.event_type, "sluice.alert.test");
  EXPECT_EQ(received[0].failure.error_class, "AlertTest");
  EXPECT_FALSE(received[0].failure.fingerprint.empty());
}

TEST(AlertCommand, OneReceiverThatDoesNotTakeItIsAFailure) {
  test::CommandLine sluice;
  sluice.environment["SENTRY_DSN"] = "https://secret@h/1";
  sluice.environment["SLUICE_ALERT_WEBHOOK_URL"] = "https://h/secret";
  int calls = 0;
  sluice.receiver = [&](const Alert&) -> Result<alert::Sent> {
    if (++calls == 1) return alert::Sent{false, std::chrono::seconds{60}, "429"};
    return alert::Sent{true, {}, "204"};
  };
  const auto answer = sluice({"alert", "test", "-o", "json"});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.out,
              AllOf(HasSubstr(R"("channel":"sentry","receiver":"https://sentry.example/***","result":"failed",)"
                              R"("detail":"the receiver answered 429; try again in 1m")"),
                    HasSubstr(R"("channel":"webhook","receiver":"https://webhook.example/***","result":"sent")")));
}

TEST(AlertCommand, AnAddressThatCannotBeUsedIsRefusedWithoutRepeatingIt) {
  test::CommandLine sluice;
  sluice.environment["SENTRY_DSN"] = "https://hush7f3@h/project";
  const auto answer = sluice({"alert", "test"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("SENTRY_DSN"), HasSubstr("alerts.sentry_dsn"), Not(HasSubstr("hush7f3"))));
}

TEST(AlertCommand, NoSecretIsShownWithTheConfiguration) {
  test::CommandLine sluice;
  sluice.environment["SENTRY_DSN"] = "https://hush7f3@sentry.example/1";
  sluice.environment["SLUICE_ALERT_WEBHOOK_URL"] = "https://user:hush7f3@hooks.example/hush7f3?key=hush7f3";
  sluice.environment["SLUICE_ALERT_WEBHOOK_TOKEN"] = "hush7f3";
  for (const std::string format : {"table", "json", "ndjson"}) {
    const auto answer = sluice({"config", "show", "-o", format});
    EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
    EXPECT_THAT(answer.out, AllOf(HasSubstr("https://sentry.example/***"), HasSubstr("https://hooks.example/***"),
                                  Not(HasSubstr("hush7f3"))));
  }
}

}  // namespace
}  // namespace sluice::cli
