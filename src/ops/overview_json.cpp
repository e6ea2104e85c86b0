#include "ops/overview_json.hpp"

#include <algorithm>

#include "core/json_object.hpp"
#include "ops/metrics_store.hpp"
#include "ops/overview.hpp"
#include "ops/sinks.hpp"

namespace sluice::ops {
namespace {

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
  return JsonObject{}
      .number("backlog", sum.due)
      .decimal("oldest_age_seconds", age)
      .number("in_flight", sum.in_flight)
      .number("waiting", sum.waiting)
      .number("dead", std::min(sum.dead, store::kGaugeLook))
      .boolean("dead_capped", view.gauges.dead_capped)
      .number("delivered_per_minute", view.delivered)
      .number("failed_per_minute", view.failed)
      .raw("notify_queue_percent", view.notify_queue_usage ? json_decimal(*view.notify_queue_usage * 100) : "null")
      .str();
}

std::string sink_json(const store::SinkRecord& sink, Timestamp now) {
  return JsonObject{}
      .text("name", sink.declared.name)
      .text("kind", sink.declared.kind)
      .text("state", state_name(sink, now))
      .time("open_until", sink.open_until)
      .text("why", why_stopped(sink))
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
  std::vector<std::string> sinks;
  for (const store::SinkRecord& sink : view.sinks) sinks.push_back(sink_json(sink, view.gauges.now));
  std::vector<std::string> attention;
  for (const Finding& finding : view.attention) attention.push_back(item(finding));
  return JsonObject{}
      .time("now", view.now)
      .raw("tiles", tiles(view))
      .raw("series", chart_json(view.points, view.window))
      .array("sinks", sinks)
      .array("marks", marks)
      .array("attention", attention)
      .str();
}

}  // namespace sluice::ops
