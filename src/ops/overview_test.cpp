#include "ops/overview.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "telemetry/metrics.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Uuid id(int n) { return *Uuid::parse("0196b2f1-7c1e-7a3b-9d2e-00000000000" + std::to_string(n)); }

/// The text of a member, by a path of names: `tiles.backlog`.
std::string at(const std::string& json, std::string path) {
  std::string object = json;
  while (!path.empty()) {
    const std::string name = path.substr(0, path.find('.'));
    path.erase(0, name.size() + 1);
    const auto members = json::members(object, "overview");
    if (!members) return members.error().message;
    std::string value = "absent";
    for (const auto& member : *members) {
      if (member.name == name) value = member.value;
    }
    object = value;
  }
  return object;
}

class OverviewTest : public testing::Test {
 protected:
  void SetUp() override { store.announce({"host:1", 1, {"sluice.log"}, "listening", {}, {}}); }
  /// Ten seconds later.
  void step() {
    store.now += 10s;
    store.announce({"host:1", 1, {"sluice.log"}, "listening", {}, {}});
    ASSERT_EQ(test::must(overview.step(store.now)), 2s);
  }
  std::string json(std::string_view window = "1h") { return overview.json(*parse_window(window), store.now); }
  void delivered(int events, Duration latency) {
    metrics.delivery.settled.with({"delivered"}).add(static_cast<std::uint64_t>(events));
    HistoryBook book;
    HistoryCounts& all = book.at(store.now, HistoryKind::all);
    all.delivered = events;
    all.first.add(latency, events);
    metrics.history.add(book);
  }
  void write_history() { test::must(store->record_history(metrics.history.take())); }
  /// The last point of a series.
  std::string last(const std::string& series, std::string_view window = "1h") {
    const std::string text = at(json(window), "series." + series);
    const auto values = json::elements(text, "series");
    return values && !values->empty() ? std::string{values->back()} : "none";
  }

  test::EmbeddedStore store;
  telemetry::Registry registry;
  telemetry::MetricSet metrics{registry};
  Overview overview{*store, metrics, {}};
};

TEST_F(OverviewTest, BeforeTheFirstSampleThereIsNothing) {
  const std::string text = json();
  EXPECT_EQ(at(text, "tiles.backlog"), "0");
  EXPECT_EQ(at(text, "series.times"), "[]");
  EXPECT_EQ(at(text, "attention"), "[]");
}

TEST_F(OverviewTest, AnEmptyGenerationHasItsGauges) {
  const auto shown = [&](const std::string& generation) {
    const std::string text = telemetry::expose(registry, telemetry::MetricsFormat::prometheus);
    int gauges = 0;
    for (const char* name : {"sluice_backlog_events", "sluice_backlog_oldest_age_seconds", "sluice_waiting_events",
                             "sluice_in_flight_events", "sluice_dead_events"}) {
      if (text.find(std::string{name} + "{generation=\"" + generation + "\"} 0\n") != std::string::npos) ++gauges;
    }
    return gauges;
  };
  step();
  EXPECT_EQ(shown("1"), 5) << telemetry::expose(registry, telemetry::MetricsFormat::prometheus);
  store.bring_generation(2, GenerationState::live);
  store.publish(id(1));
  store.now += 30s;
  step();
  EXPECT_EQ(shown("2"), 5) << "a fresh one";
  store.deliver(id(1));
  step();
  EXPECT_EQ(shown("1"), 5) << "one that has been emptied";
  store.bring_generation(3, GenerationState::retired);
  store.now += 30s;
  step();
  EXPECT_EQ(shown("3"), 0) << "a retired one";
}

TEST_F(OverviewTest, AcknowledgedDeadLettersNeedNoAttention) {
  store.publish(id(1));
  store.fail(id(1));
  step();
  EXPECT_THAT(at(json(), "attention"), HasSubstr("1 dead letter needs review"));
  EXPECT_THAT(telemetry::expose(registry, telemetry::MetricsFormat::prometheus),
              HasSubstr("sluice_dead_unacknowledged_events 1\n"));
  const auto groups = test::must(store->failure_groups({}));
  test::must(store->acknowledge(groups.at(0).fingerprint, true, {"alice", "http", "we know"}));
  step();
  EXPECT_EQ(at(json(), "attention"), "[]");
  EXPECT_EQ(at(json(), "tiles.dead"), "1");
  EXPECT_THAT(telemetry::expose(registry, telemetry::MetricsFormat::prometheus),
              HasSubstr("sluice_dead_unacknowledged_events 0\n"));
}

TEST_F(OverviewTest, TheTilesAreTheStoresGauges) {
  store.publish(id(1));
  store.publish(id(2));
  store.publish(id(3));
  store.fail(id(3));
  store.claim(id(2));
  step();
  const std::string text = json();
  EXPECT_EQ(at(text, "tiles.backlog"), "1");
  EXPECT_EQ(at(text, "tiles.oldest_age_seconds"), "10");
  EXPECT_EQ(at(text, "tiles.in_flight"), "1");
  EXPECT_EQ(at(text, "tiles.dead"), "1");
  EXPECT_EQ(at(text, "tiles.dead_capped"), "false");
  EXPECT_EQ(at(text, "tiles.notify_queue_percent"), "null");
  EXPECT_EQ(last("backlog"), "1");
  EXPECT_EQ(last("lag_seconds"), "10");
}

TEST_F(OverviewTest, TheSeriesTellWhatHappenedInEachMinute) {
  store.now = std::chrono::floor<std::chrono::hours>(store.now);
  step();
  store.now += 1min;
  store.publish(id(1));
  store.publish(id(2));
  delivered(3, 10ms);
  step();
  const std::string text = json();
  EXPECT_EQ(at(text, "series.interval_seconds"), "60");
  EXPECT_EQ(last("published"), "2");
  EXPECT_EQ(last("delivered"), "3");
  EXPECT_EQ(last("p50_ms"), last("p99_ms"));
  EXPECT_NEAR(std::stod(last("p50_ms")), 10, 10.0 / 64);
  EXPECT_EQ(at(text, "tiles.delivered_per_minute"), "3");
  EXPECT_EQ(last("delivered", "24h"), "3");
  EXPECT_EQ(at(json("24h"), "series.interval_seconds"), "300");
}

TEST_F(OverviewTest, WhatIsWrittenIsCountedOnce) {
  store.now = std::chrono::floor<std::chrono::hours>(store.now);
  step();
  delivered(3, 10ms);
  step();
  EXPECT_EQ(last("delivered"), "3");
  write_history();
  step();
  EXPECT_EQ(last("delivered", "24h"), "3");
  EXPECT_EQ(last("delivered", "7d"), "3");
  EXPECT_EQ(last("delivered", "45d"), "3");
}

TEST_F(OverviewTest, ARestartForgetsNothingAndOtherProcessesCount) {
  store.now = std::chrono::floor<std::chrono::hours>(store.now);
  step();
  delivered(3, 10ms);
  step();
  write_history();
  telemetry::Registry later_registry;
  telemetry::MetricSet later_metrics{later_registry};
  Overview later{*store, later_metrics, {}};
  store.now += 2min;
  test::must(later.step(store.now));
  const std::string delivered_json = at(later.json(*parse_window("1h"), store.now), "series.delivered");
  const auto values = *json::elements(delivered_json, "series");
  ASSERT_EQ(values.size(), 60U);
  EXPECT_EQ(values[57], "3");
  EXPECT_EQ(values[58], "null") << "nobody was there: a gap, not a zero";
  EXPECT_EQ(values[59], "0");
}

TEST_F(OverviewTest, BetweenTwoPointsTheTilesMoveAndThePeakIsKept) {
  store.now = std::chrono::floor<std::chrono::hours>(store.now);
  step();
  store.publish(id(1));
  store.publish(id(2));
  store.now += 2s;
  test::must(overview.step(store.now));
  EXPECT_EQ(at(json(), "tiles.backlog"), "2");
  store.deliver(id(1));
  store.deliver(id(2));
  step();
  EXPECT_EQ(at(json(), "tiles.backlog"), "0");
  EXPECT_EQ(last("backlog"), "2");
}

TEST_F(OverviewTest, WhatWasThereBeforeTheFirstSampleIsNotNews) {
  store.publish(id(1));
  step();
  EXPECT_EQ(last("published"), "null");
}

TEST_F(OverviewTest, MarksTellWhyACurveBends) {
  store.bring_generation(2, GenerationState::live);
  step();
  EXPECT_THAT(at(json(), "marks"), HasSubstr("generation 2: activate"));
  store.now += 2h;
  EXPECT_EQ(at(overview.json(*parse_window("1h"), store.now), "marks"), "[]");
}

TEST_F(OverviewTest, AttentionNamesWhatIsWrongAndWhereToLook) {
  store.bring_generation(2, GenerationState::draining);
  store.publish(id(1), 2);
  store.publish(id(2));
  store.fail(id(2));
  step();
  const std::string attention = at(json(), "attention");
  EXPECT_THAT(attention, HasSubstr(R"("severity":"critical","id":"generation-abandoned")"));
  EXPECT_THAT(attention, HasSubstr(R"("link":"/generations")"));
  EXPECT_THAT(attention, HasSubstr(R"("id":"dead-letters","title":"1 dead letter needs review")"));
  EXPECT_THAT(attention, HasSubstr(R"("link":"/dlq")"));
  EXPECT_THAT(attention, Not(HasSubstr("\"ok\"")));
}

TEST_F(OverviewTest, StrandedEventsNeedAttention) {
  store.sql("insert into stranded (at, event_id, event_type, generation, cause) values ('" + to_iso8601(store.now) +
            "', '" + id(1).to_string() + "', 'test.happened', 1, 'no_claim')");
  step();
  const std::string attention = at(json(), "attention");
  EXPECT_THAT(attention, HasSubstr(R"("severity":"warning","id":"stranded-events")"));
  EXPECT_THAT(attention, HasSubstr(R"("link":"/events")"));
}

TEST_F(OverviewTest, EventsThatNobodyWantsAreNoticed) {
  store.publish(id(1));
  for (int n = 0; n < 10; ++n) step();
  EXPECT_THAT(at(json(), "attention"), HasSubstr("events-unsubscribed"));
}

TEST_F(OverviewTest, TheMetricsShowWhatWasSeen) {
  store.publish(id(1));
  step();
  const std::string text = telemetry::expose(registry);
  EXPECT_THAT(text, HasSubstr("sluice_backlog_events{generation=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_backlog_oldest_age_seconds{generation=\"1\"} 10\n"));
  EXPECT_THAT(text, HasSubstr("sluice_workers{generation=\"1\",listener=\"listening\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_store_up 1\n"));
  EXPECT_THAT(text, HasSubstr("\nsluice_sqlite_file_bytes "));
  EXPECT_THAT(text, Not(HasSubstr("\nsluice_outbox_bytes ")));
}

TEST(OverviewFaults, AStoreThatDoesNotAnswerIsWhatNeedsAttention) {
  for (const std::string verb : {"gauges", "workers", "diagnose", "deployments", "audit"}) {
    test::EmbeddedStore store;
    test::FaultyAdministering faulty{store};
    faulty.fail_verb(verb, {ErrorCode::unavailable, Retry::safe, "the database is away", "", ""});
    telemetry::Registry registry;
    telemetry::MetricSet metrics{registry};
    Overview overview{faulty, metrics, {}};
    EXPECT_FALSE(overview.step(store.now)) << verb;
    EXPECT_THAT(at(overview.json(*parse_window("1h"), store.now), "attention"), HasSubstr("the database is away"))
        << verb;
    EXPECT_EQ(metrics.store.up->value(), 0) << verb;
    EXPECT_EQ(metrics.store.sample_failures->value(), 1U) << verb;
  }
}

}  // namespace
}  // namespace sluice::ops
