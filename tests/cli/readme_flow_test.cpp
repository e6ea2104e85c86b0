// What a newcomer does first, on an empty home directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/cli/process.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(ReadmeFlow, ServePublishShowStop) {
  Home home;
  const auto serving = home.start({"serve", "--poll-interval", "20ms"});
  ASSERT_THAT(serving->read_line(), HasSubstr("sluice is ready"));

  const auto published = home.sluice({"publish", "demo.hello", "--data", R"({"n":1})", "--wait", "--timeout", "60s"});
  ASSERT_EQ(published.exit, 0) << published.err;
  const std::string id = first_line(published.out);

  const auto story = home.sluice({"event", "show", id});
  EXPECT_EQ(story.exit, 0) << story.err;
  EXPECT_THAT(story.out, AllOf(HasSubstr("is delivered"), HasSubstr("published"), HasSubstr("claimed"),
                               HasSubstr("handled"), HasSubstr("by sluice.log"), HasSubstr(R"({"n":1})")));

  const auto listed = home.sluice({"event", "list", "--status", "delivered", "-o", "json"});
  EXPECT_THAT(listed.out, HasSubstr(id));
  const auto status = home.sluice({"status", "-o", "json"});
  EXPECT_THAT(status.out, AllOf(HasSubstr(R"("delivered":1)"), HasSubstr(R"("pending":0)")));

  serving->signal(SIGTERM);
  const auto stopped = serving->finish();
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr(id), HasSubstr("stopped")));
  EXPECT_TRUE(home.exists(".local/share/sluice/sluice.db"));
}

TEST(ReadmeFlow, CtrlCStopsServeCleanlyToo) {
  Home home;
  const auto serving = home.start({"serve"});
  serving->read_line();
  serving->signal(SIGINT);
  EXPECT_EQ(serving->finish().exit, 0);
}

TEST(ReadmeFlow, EventsPublishedBeforeServeAreDelivered) {
  Home home;
  const auto published = home.sluice({"publish", "demo.early"});
  ASSERT_EQ(published.exit, 0) << published.err;
  const auto serving = home.start({"serve", "--poll-interval", "20ms"});
  serving->read_line();
  // Publishing the same id again is safe, and waits for the first one.
  const auto again =
      home.sluice({"publish", "demo.early", "--id", first_line(published.out), "--wait", "--timeout", "60s"});
  EXPECT_EQ(again.exit, 0) << again.err;
}

TEST(ReadmeFlow, WaitTimesOutWhenNobodyServes) {
  Home home;
  const auto answer = home.sluice({"publish", "demo.lonely", "--wait", "--timeout", "50ms"});
  EXPECT_EQ(answer.exit, 8) << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("still pending"));
  EXPECT_EQ(home.sluice({"event", "show", first_line(answer.out)}).exit, 0);
}

TEST(ReadmeFlow, CtrlCWhileWaitingDetaches) {
  Home home;
  const auto waiting = home.start({"publish", "demo.lonely", "--wait", "--timeout", "600s"});
  const std::string id = waiting->read_line();
  waiting->signal(SIGINT);
  const auto detached = waiting->finish();
  EXPECT_EQ(detached.exit, 130);
  EXPECT_EQ(home.sluice({"event", "show", id}).exit, 0);
}

TEST(ReadmeFlow, NumbersBeyondSixtyFourBitsSurvive) {
  Home home;
  const std::string payload = R"({"n":123456789012345678901234567890.5000})";
  const auto published = home.sluice({"publish", "demo.big", "--data", "-"}, payload);
  ASSERT_EQ(published.exit, 0) << published.err;
  EXPECT_THAT(home.sluice({"event", "show", first_line(published.out), "-o", "json"}).out, HasSubstr(payload));
}

TEST(ReadmeFlow, GenerationsRouteWhatIsPublished) {
  Home home;
  EXPECT_EQ(home.sluice({"generation", "allocate", "7"}).out, "7\n");
  EXPECT_EQ(home.sluice({"generation", "activate", "7", "--reason", "release"}).exit, 0);
  const auto published = home.sluice({"publish", "demo.hello", "-o", "json"});
  EXPECT_THAT(published.out, AllOf(HasSubstr(R"("generation":7)"), HasSubstr(R"("channel":"outbox_gen_7")")));
  EXPECT_EQ(home.sluice({"generation", "allocate", "7"}).exit, 5);
}

}  // namespace
}  // namespace sluice::test
