#include "ops/overview_json.hpp"

#include <algorithm>
#include <functional>

#include "core/json_object.hpp"
#include "ops/metrics_store.hpp"
#include "ops/overview.hpp"
#include "ops/overview_history.hpp"

namespace sluice::ops {
namespace {

constexpr double kMilliseconds = 1000;

std::string tiles(const OverviewView& view) {
  store::GenerationGauges sum;
  double age = 0;
  for (const store::GenerationGauges& one : view.gauges.generations) {
    sum.due += one.due;
    sum.in_flight += one.in_flight;
    sum.waiting += one.waiting;
    sum.dead += one.dead;
    age = std::max(age, oldest_age_seconds(one, view.gauges.now));
  }
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  for (const OverviewPoint& point : view.last_minute.points) {
    delivered += point.delivered;
    failed += point.failed;
  }
  return JsonObject{}
      .number("backlog", sum.due)
      .decimal("oldest_age_seconds", age)
      .number("in_flight", sum.in_flight)
      .number("waiting", sum.waiting)
      .number("dead", std::min(sum.dead, store::kGaugeLook))
      .boolean("dead_capped", view.gauges.dead_capped)
      .number("delivered_per_minute", delivered)
      .number("failed_per_minute", failed)
      .raw("notify_queue_percent", view.notify_queue_usage ? json_decimal(*view.notify_queue_usage * 100) : "null")
      .str();
}

std::string series(const OverviewView& view) {
  const std::vector<OverviewPoint>& points = view.series.points;
  const auto column = [&](const std::function<std::string(const OverviewPoint&)>& value) {
    std::vector<std::string> values;
    values.reserve(points.size());
    for (const OverviewPoint& point : points) values.push_back(value(point));
    return values;
  };
  const auto percentile = [&](double q) {
    return column([&, q](const OverviewPoint& point) -> std::string {
      if (point.latencies.empty()) return "null";
      const auto seconds = quantile(view.latency_bounds, point.latencies, q);
      return seconds ? json_decimal(*seconds * kMilliseconds) : "null";
    });
  };
  const auto count = [](std::int64_t OverviewPoint::*member) {
    return [member](const OverviewPoint& point) { return std::to_string(point.*member); };
  };
  using std::chrono::floor;
  using std::chrono::seconds;
  return JsonObject{}
      .number("interval_seconds", floor<seconds>(view.series.interval).count())
      .array("times", column([](const OverviewPoint& point) {
               return std::to_string(floor<seconds>(point.at).time_since_epoch().count());
             }))
      .array("backlog", column(count(&OverviewPoint::backlog)))
      .array("lag_seconds", column([](const OverviewPoint& point) { return json_decimal(point.lag_seconds); }))
      .array("published", column(count(&OverviewPoint::published)))
      .array("delivered", column(count(&OverviewPoint::delivered)))
      .array("failed", column(count(&OverviewPoint::failed)))
      .array("p50_ms", percentile(0.5))
      .array("p95_ms", percentile(0.95))
      .array("p99_ms", percentile(0.99))
      .str();
}

std::string item(const Finding& finding) {
  return JsonObject{}
      .text("severity", name(finding.severity))
      .text("id", name(finding.id))
      .text("title", finding.title)
      .text("detail", finding.detail)
      .text("fix", finding.fix)
      .text("link", link_of(finding.id))
      .str();
}

}  // namespace

std::string overview_json(const OverviewView& view) {
  std::vector<std::string> marks;
  for (const OverviewMark& mark : view.marks) marks.push_back(to_json(mark));
  std::vector<std::string> attention;
  for (const Finding& finding : view.attention) attention.push_back(item(finding));
  return JsonObject{}
      .time("now", view.now)
      .raw("tiles", tiles(view))
      .raw("series", series(view))
      .array("marks", marks)
      .array("attention", attention)
      .str();
}

}  // namespace sluice::ops
