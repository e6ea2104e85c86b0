// The charts against the database: what the API tells of a known load is what SQL says of the rows. And how much room
// the history takes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "core/json.hpp"
#include "ops/history.hpp"
#include "runtime/history.hpp"
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::test {
namespace {

class HistoryReference : public testing::Test {
 protected:
  using Verdicts = std::vector<Verdict>;

  /// The values of one series of a chart, nulls left out.
  std::vector<double> values(const std::string& series, const char* window = "1h", const char* kind = "all",
                             std::optional<std::string> name = {}) {
    const auto request = ops::history_request(window, kind, std::move(name)).value();
    const std::string chart = ops::report_history(*store, request).value();
    std::vector<double> found;
    const auto members = json::members(chart, "chart").value();
    for (const json::Member& member : members) {
      if (member.name != series) continue;
      const auto elements = json::elements(member.value, "chart").value();
      for (const std::string_view value : elements) {
        if (value != "null") found.push_back(std::stod(std::string{value}));
      }
    }
    return found;
  }
  double sum(const std::string& series, const char* window = "1h", const char* kind = "all",
             std::optional<std::string> name = {}) {
    double all = 0;
    for (const double value : values(series, window, kind, std::move(name))) all += value;
    return all;
  }
  double sql(const std::string& statement) { return std::stod(session.must(statement).value()); }
  void drain(runtime::TestWorker& worker) {
    for (;;) {
      const auto report = worker.step();
      ASSERT_TRUE(report) << report.error().message;
      if (report->claimed == 0) return;
    }
  }
  void publish(int count, const std::string& type, const std::function<Duration(int)>& age) {
    const Timestamp now = store->now().value();
    std::vector<store::NewEvent> events;
    for (int n = 0; n < count; ++n) {
      auto draft = a_draft(type);
      draft.occurred_at = now - age(n);
      events.push_back(an_event(draft));
    }
    ASSERT_TRUE(store->publish(events));
  }

  PostgresDatabase database;
  SqlSession session{database.url()};
  std::unique_ptr<store::Store> store = open_store(database.url());
  telemetry::Registry registry;
  telemetry::MetricSet metrics{registry};
  runtime::HistoryLog log{*store, metrics.history};
};

TEST_F(HistoryReference, CountsAndQuantilesAreThoseOfTheRows) {
  bool broken = true;
  runtime::ScriptedHandler handler{[&](std::span<const EventEnvelope> events) {
    Verdicts verdicts;
    for (const EventEnvelope& event : events) {
      Verdict verdict;
      if (broken && event.event_type() == "shop.refused") verdict = Verdict::failed("gone", "gone");
      verdict.terminal = verdict.kind == Verdict::Kind::failed;
      verdicts.push_back(verdict);
    }
    return verdicts;
  }};
  runtime::TestWorker worker{*store, handler.handlers(), {}, runtime::worker_options(), {}, &metrics};
  // From 2 s to 20 minutes, closer together at the lower end.
  const auto spread = [](int n) { return Duration{static_cast<std::int64_t>(2e6 * std::pow(600.0, n / 1500.0))}; };
  publish(1500, "shop.order.placed", spread);
  publish(40, "shop.refused", [](int) { return Duration{30s}; });
  drain(worker);
  broken = false;
  const auto dead = store->list_dead({}, 10, std::nullopt).value().events;
  ASSERT_EQ(dead.size(), 10U);
  // As if they had been dead letters for a day.
  session.must(
      "set session_replication_role = replica; update core.outbox set occurred_at = occurred_at - interval '1 day' "
      "where event_type = 'shop.refused'; set session_replication_role = default");
  for (const auto& event : dead) {
    ASSERT_TRUE(store->replay(event.envelope.event_id(), 1, {"alice", "test", "fixed"}));
  }
  drain(worker);
  ASSERT_TRUE(log.step());

  EXPECT_EQ(sum("delivered"), sql("select count(*) from core.outbox where status = 'delivered'"));
  EXPECT_EQ(sum("delivered", "7d"), sum("delivered")) << "hours and minutes tell the same";
  EXPECT_EQ(sum("delivered", "1h", "type", "shop.order.placed"), 1500);
  EXPECT_EQ(sum("delivered", "1h", "handler", "sluice.log"), 1510);
  EXPECT_EQ(sum("failed"), 40) << "each became a dead letter once";
  EXPECT_EQ(sum("replayed"), 10);
  EXPECT_EQ(sql("select count(*) from core.outbox where status = 'failed'"), 30);

  const auto exact = [&](const char* q) {
    return sql(std::string{"select extract(epoch from percentile_disc("} + q +
               ") within group (order by delivered_at - occurred_at)) * 1000 from core.outbox "
               "where event_type = 'shop.order.placed'");
  };
  // By the hour, so that one point has them all. When an hour ends meanwhile, the quantile of all is between theirs.
  for (const auto& [series, q] :
       {std::pair{"p50_ms", "0.5"}, std::pair{"p95_ms", "0.95"}, std::pair{"p99_ms", "0.99"}}) {
    const auto told = values(series, "45d");
    ASSERT_FALSE(told.empty());
    const auto [least, most] = std::minmax_element(told.begin(), told.end());
    // One part in 64, and what passes between the settle and its being seen.
    const double room = exact(q) / 64 + 250;
    EXPECT_LE(*least, exact(q) + room) << series;
    EXPECT_GE(*most, exact(q) - room) << series;
  }
  const auto replays = values("replay_p95_ms", "45d");
  ASSERT_FALSE(replays.empty());
  EXPECT_LT(replays.back(), 600'000) << "measured from the replay, not from the day before";
}

// 1,000 events per second for a day: one row of all, two handlers, four event types, two sinks.
TEST_F(HistoryReference, ADayOfAThousandEventsPerSecondIsSmall) {
  const auto distribution = [](double events, double median_us, double sigma) {
    DurationHistogram histogram;
    const auto share = [&](Duration value) {
      return value.count() <= 0 ? 0.0
                                : 0.5 * std::erfc(-std::log(static_cast<double>(value.count()) / median_us) /
                                                  (sigma * std::sqrt(2.0)));
    };
    for (DurationHistogram::Bucket bucket = 0; bucket < 1200; ++bucket) {
      const double part = share(DurationHistogram::lower(static_cast<DurationHistogram::Bucket>(bucket + 1))) -
                          share(DurationHistogram::lower(bucket));
      histogram.add(bucket, static_cast<std::int64_t>(std::llround(events * part)));
    }
    return histogram;
  };
  const Timestamp now = store->now().value();
  const Timestamp first = std::chrono::floor<std::chrono::hours>(now) - 23h;
  struct Series {
    HistoryKind kind;
    std::string name;
    double share;
  };
  std::vector<Series> series{{HistoryKind::all, "", 1}};
  for (int n = 0; n < 2; ++n) series.push_back({HistoryKind::handler, "billing.handler" + std::to_string(n), 0.5});
  for (int n = 0; n < 4; ++n) series.push_back({HistoryKind::type, "shop.order.event" + std::to_string(n), 0.25});
  for (int n = 0; n < 2; ++n) series.push_back({HistoryKind::sink, "sink" + std::to_string(n), 0.5});
  constexpr double kPerMinute = 60'000;
  for (int hour = 0; hour < 24; ++hour) {
    std::vector<HistoryRow> rows;
    for (int minute = 0; minute < 60; ++minute) {
      for (const Series& one : series) {
        HistoryCounts counts;
        counts.delivered = static_cast<std::int64_t>(kPerMinute * one.share);
        // The median wanders, as it does in a day.
        counts.first = distribution(kPerMinute * one.share, 4000 + 50 * minute, 0.8);
        counts.later = distribution(100 * one.share, 3e6, 1.0);
        counts.newest = 1;
        rows.push_back({first + std::chrono::hours{hour} + std::chrono::minutes{minute}, {one.kind, one.name}, counts});
      }
    }
    ASSERT_TRUE(store->record_history(rows));
  }
  session.must("vacuum analyze core.delivery_history");
  const double bytes = sql("select pg_total_relation_size('core.delivery_history')");
  const double minutes = sql("select count(*) from core.delivery_history where not hourly");
  const double minute_bytes = sql("select avg(pg_column_size(h.*)) from core.delivery_history h where not hourly");
  const double hour_bytes = sql("select avg(pg_column_size(h.*)) from core.delivery_history h where hourly");
  RecordProperty("bytes", static_cast<int>(bytes));
  std::printf("a day: %.0f rows of %.0f bytes per minute, %.0f bytes per hour; %.1f MB in all\n", minutes, minute_bytes,
              hour_bytes, bytes / 1e6);
  EXPECT_GE(minutes, 9 * 60 * 23);
  EXPECT_LT(bytes, 50e6);  // measured: 37 MB
  // 45 days: the minutes of one, and 45 times 24 hours of nine series.
  EXPECT_LT(bytes + 45 * 24 * 9 * hour_bytes * 1.5, 90e6);
}

}  // namespace
}  // namespace sluice::test
