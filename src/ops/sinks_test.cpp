// A sink that takes no deliveries is seen wherever somebody looks.
#include "ops/sinks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/check.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/event_story.hpp"
#include "ops/overview.hpp"
#include "ops/status_report.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const store::Actor kAlice{"alice", "cli", "migrating"};
const store::Actor kHost{"host-7", "daemon", "https://shop.example/*** answered 503"};

class StoppedSink : public testing::Test {
 protected:
  StoppedSink() {
    const Subscription subscription{.handler_name = "shop.invoices"};
    store.subscribe(1, {subscription});
    store.announce({.identity = "host-7", .handlers = {"shop.invoices"}, .listener = "listening"});
    const std::vector<store::SinkDeclaration> sinks{{"shop", "http", "https://shop.example/***", {"shop.invoices"}},
                                                    {"unused", "log", "the log", {}}};
    test::must(store->declare_sinks(sinks));
  }

  std::vector<Finding> found() {
    std::vector<Finding> findings;
    for (Finding& finding : findings_of(test::must(gather_facts(*store, {{}, [this] { return store.now; }})))) {
      if (finding.id == FindingId::sink_stopped) findings.push_back(std::move(finding));
    }
    return findings;
  }
  double checked() { return test::must(read_gauge(*store, *find_gauge("sink"), {1, 3})).value; }
  /// A pending event that its worker was told to bring back later.
  std::vector<Wait> waits(Duration later) {
    store.publish(test::id_of(1));
    store.settle(store.claim(test::id_of(1)), Outcome::deferred_for(later));
    return test::must(tell_story(*store, test::id_of(1))).waits_for;
  }

  test::EmbeddedStore store;
};

TEST_F(StoppedSink, NothingIsSaidOfSinksThatTakeDeliveries) {
  ASSERT_EQ(found().size(), 1U);
  EXPECT_EQ(found()[0].severity, Severity::ok);
  EXPECT_EQ(checked(), 0);
  EXPECT_THAT(test::must(stopped_sinks(*store)), IsEmpty());
}

TEST_F(StoppedSink, APausedOneIsAWarningEverywhere) {
  test::must(pause_sink(*store, "shop", kAlice));
  ASSERT_EQ(found().size(), 1U);
  EXPECT_EQ(found()[0].severity, Severity::warning);
  EXPECT_EQ(found()[0].title, "sink shop (https://shop.example/***) is paused by alice");
  EXPECT_THAT(found()[0].detail, AllOf(HasSubstr("since 20"), HasSubstr("migrating")));
  EXPECT_EQ(found()[0].fix, "sluice sink resume shop --reason TEXT");
  EXPECT_EQ(checked(), 1);
  const auto report = test::must(report_status(*store));
  ASSERT_EQ(report.sinks.size(), 2U);
  EXPECT_THAT(to_json(report),
              HasSubstr(R"("name":"shop","kind":"http","target":"https://shop.example/***","state":"paused")"));
  const auto attended = attention({.store = "s", .stopped_sinks = test::must(stopped_sinks(*store))});
  ASSERT_EQ(attended.size(), 1U);
  EXPECT_EQ(attended[0].id, FindingId::sink_stopped);
  EXPECT_EQ(link_of(attended[0].id), "/sinks");
}

TEST_F(StoppedSink, AReceiverThatIsGoneIsCritical) {
  test::must(store->switch_sink("shop", SinkSwitch::disabled, kHost));
  EXPECT_EQ(found().at(0).severity, Severity::critical);
  EXPECT_THAT(found().at(0).fix, HasSubstr("sluice sink resume shop"));
}

TEST_F(StoppedSink, AnOpenCircuitIsAWarning) {
  test::must(store->move_circuit("shop", seconds{30}, kHost));
  EXPECT_EQ(found().at(0).severity, Severity::warning);
  EXPECT_EQ(found().at(0).title, "sink shop (https://shop.example/***) is resting with an open circuit");
  EXPECT_THAT(found().at(0).detail,
              AllOf(HasSubstr("since 20"), HasSubstr("Z, the first event from 20"), HasSubstr("answered 503")));
  EXPECT_EQ(checked(), 1);
  store.now += seconds{31};
  EXPECT_EQ(state_name(test::must(find_sink(*store, "shop")), store.now), "half_open");
}

TEST_F(StoppedSink, OneThatNobodySubscribesThroughKeepsNothingWaiting) {
  test::must(pause_sink(*store, "unused", kAlice));
  EXPECT_EQ(found().at(0).severity, Severity::ok);
  EXPECT_EQ(checked(), 0);
  test::must(pause_sink(*store, "shop", kAlice));
  ASSERT_TRUE(store->unsubscribe(1, "shop.invoices", kAlice));
  EXPECT_EQ(checked(), 0) << "the configuration that declared it is gone";
}

TEST_F(StoppedSink, AnEventSaysThatItWaitsForItsSink) {
  test::must(pause_sink(*store, "shop", kAlice));
  const auto waiting = waits(kStoppedSinkWait);
  ASSERT_EQ(waiting.size(), 1U) << "being deferred is what the pause does to it";
  EXPECT_EQ(name(waiting[0].what), "sink");
  EXPECT_THAT(waiting[0].detail, StartsWith("sink shop is paused by alice since "));
  EXPECT_THAT(waiting[0].handlers, ElementsAre("shop.invoices"));
}

TEST_F(StoppedSink, AnEventSaysUntilWhenACircuitRests) {
  test::must(store->move_circuit("shop", minutes{5}, kHost));
  const auto waiting = waits(minutes{5});
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].until, store.now + minutes{5});
}

TEST_F(StoppedSink, AnEventThatIsScheduledSaysBoth) {
  test::must(pause_sink(*store, "shop", kAlice));
  const auto waiting = waits(minutes{60});
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].what, Wait::What::sink);
  EXPECT_EQ(waiting[1].what, Wait::What::time);
}

TEST_F(StoppedSink, AnUnknownOneIsNotFoundWithTheWayToTheList) {
  for (const auto& missing : {find_sink(*store, "till"), pause_sink(*store, "till", kAlice)}) {
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_THAT(missing.error().hint, HasSubstr("sluice sink list"));
  }
}

}  // namespace
}  // namespace sluice::ops
