#include "ops/history.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::ops {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// No chart has more than 360 points.
constexpr std::array kWindows{
    ChartWindow{"10m", minutes{10}, minutes{1}, false}, ChartWindow{"1h", hours{1}, minutes{1}, false},
    ChartWindow{"6h", hours{6}, minutes{1}, false},     ChartWindow{"24h", hours{24}, minutes{5}, false},
    ChartWindow{"7d", hours{24 * 7}, hours{1}, true},   ChartWindow{"45d", hours{24 * 45}, hours{6}, true},
};

Timestamp floored(Timestamp at, Duration interval) { return Timestamp{at.time_since_epoch() / interval * interval}; }

std::string milliseconds(const DurationHistogram& histogram, double q) {
  const auto value = histogram.quantile(q);
  return value ? json_decimal(std::chrono::duration<double, std::milli>{*value}.count()) : "null";
}

std::string number(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "null"; }

// What was published between two rows is the difference of their newest numbers. Behind a gap nobody knows when it was.
class PublishedCounts {
 public:
  explicit PublishedCounts(Duration step) : step_(step) {}
  std::optional<std::int64_t> until(const HistoryRow& row) {
    if (!row.counts.newest) return std::nullopt;
    const auto before = std::exchange(last_, std::pair{row.at, *row.counts.newest});
    if (!before || row.at - before->first > step_) return std::nullopt;
    return std::max<std::int64_t>(*row.counts.newest - before->second, 0);
  }

 private:
  Duration step_;
  std::optional<std::pair<Timestamp, std::int64_t>> last_;
};

std::string total_json(const std::string& series, const HistoryCounts& sum) {
  return JsonObject{}
      .text("name", series)
      .number("delivered", sum.delivered)
      .number("replayed", sum.replayed)
      .number("failed", sum.failed)
      .number("retried", sum.retried)
      .raw("p50_ms", milliseconds(sum.first, 0.5))
      .raw("p95_ms", milliseconds(sum.first, 0.95))
      .raw("p99_ms", milliseconds(sum.first, 0.99))
      .str();
}

}  // namespace

Timestamp ChartWindow::from(Timestamp now) const { return floored(now, interval) - length + interval; }

Result<ChartWindow> parse_window(std::string_view text) {
  std::vector<std::string_view> names;
  for (const ChartWindow& window : kWindows) {
    if (window.name == text) return window;
    names.push_back(window.name);
  }
  return invalid("window", "window must be one of " + joined(names, ", ") + ", not `" + std::string{text} + "`");
}

std::vector<ChartPoint> chart_points(const std::vector<HistoryRow>& rows, const ChartWindow& window, Timestamp now) {
  const Timestamp first = window.from(now);
  std::vector<ChartPoint> points;
  for (Timestamp at = first; at <= now; at += window.interval) points.push_back({at, {}, {}});
  PublishedCounts published{window.hourly ? Duration{hours{1}} : Duration{minutes{1}}};
  for (const HistoryRow& row : rows) {
    const auto since = published.until(row);
    if (row.at < first || row.at > now) continue;
    ChartPoint& point = points.at(static_cast<std::size_t>((row.at - first) / window.interval));
    if (!point.counts) point.counts.emplace();
    point.counts->add(row.counts);
    if (since) point.published = point.published.value_or(0) + *since;
  }
  return points;
}

void fill_quiet(std::vector<ChartPoint>& points, const std::vector<ChartPoint>& all) {
  for (std::size_t i = 0; i < points.size() && i < all.size(); ++i) {
    if (!points[i].counts && all[i].counts) points[i].counts.emplace();
  }
}

std::string chart_json(const std::vector<ChartPoint>& points, const ChartWindow& window) {
  using Value = std::function<std::string(const HistoryCounts&)>;
  const auto each = [&](const std::function<std::string(const ChartPoint&)>& value) {
    std::vector<std::string> values;
    values.reserve(points.size());
    for (const ChartPoint& point : points) values.push_back(value(point));
    return values;
  };
  const auto known = [&](const Value& value) {
    return each([&](const ChartPoint& point) { return point.counts ? value(*point.counts) : "null"; });
  };
  const auto count = [&](std::int64_t HistoryCounts::*member) {
    return known([member](const HistoryCounts& counts) { return std::to_string(counts.*member); });
  };
  const auto quantile = [&](DurationHistogram HistoryCounts::*member, double q) {
    return known([member, q](const HistoryCounts& counts) { return milliseconds(counts.*member, q); });
  };
  return JsonObject{}
      .text("window", window.name)
      .number("interval_seconds", std::chrono::floor<std::chrono::seconds>(window.interval).count())
      .array("times", each([](const ChartPoint& point) {
               return std::to_string(std::chrono::floor<std::chrono::seconds>(point.at).time_since_epoch().count());
             }))
      .array("backlog", known([](const HistoryCounts& counts) { return number(counts.backlog); }))
      .array("lag_seconds", known([](const HistoryCounts& counts) {
               return counts.lag_ms ? json_decimal(static_cast<double>(*counts.lag_ms) / 1000) : "null";
             }))
      .array("published", each([](const ChartPoint& point) { return number(point.published); }))
      .array("delivered", count(&HistoryCounts::delivered))
      .array("replayed", count(&HistoryCounts::replayed))
      .array("failed", count(&HistoryCounts::failed))
      .array("retried", count(&HistoryCounts::retried))
      .array("p50_ms", quantile(&HistoryCounts::first, 0.5))
      .array("p95_ms", quantile(&HistoryCounts::first, 0.95))
      .array("p99_ms", quantile(&HistoryCounts::first, 0.99))
      .array("later_p95_ms", quantile(&HistoryCounts::later, 0.95))
      .array("replay_p95_ms", quantile(&HistoryCounts::replays, 0.95))
      .str();
}

Result<HistoryRequest> history_request(std::string_view window, std::string_view kind,
                                       std::optional<std::string> name) {
  SLUICE_TRY(const ChartWindow chosen, parse_window(window));
  const auto known = history_kind(kind);
  if (!known) {
    return invalid("kind", "kind must be one of " + joined(kHistoryKinds, ", ") + ", not `" + std::string{kind} + "`");
  }
  if (known == HistoryKind::all && name) return invalid("name", "name belongs to kind handler, type or sink");
  return HistoryRequest{chosen, *known, std::move(name)};
}

Result<std::string> report_history(store::Administering& store, const HistoryRequest& request) {
  SLUICE_TRY(const auto now, store.now());
  const ChartWindow& window = request.window;
  const Timestamp from = window.from(now) - (window.hourly ? Duration{hours{1}} : Duration{minutes{1}});
  if (request.kind == HistoryKind::all || request.name) {
    const auto points_of = [&](HistoryKind kind, const auto& name) -> Result<std::vector<ChartPoint>> {
      SLUICE_TRY(const auto rows, store.history({window.hourly, from, now + minutes{1}, kind, name}));
      return chart_points(rows, window, now);
    };
    SLUICE_TRY(auto points, points_of(request.kind, request.name));
    if (request.name) {
      SLUICE_TRY(const auto all, points_of(HistoryKind::all, std::optional<std::string>{}));
      fill_quiet(points, all);
    }
    return chart_json(points, window);
  }
  // Every series of a kind: from the hours where that is exact enough, which are sixty times fewer.
  const bool hourly = window.length > hours{1};
  SLUICE_TRY(const auto rows, store.history({hourly, window.from(now), now + minutes{1}, request.kind, {}}));
  std::map<std::string, HistoryCounts> sums;
  for (const HistoryRow& row : rows) sums[row.series.name].add(row.counts);
  std::vector<std::pair<std::string, HistoryCounts>> sorted{sums.begin(), sums.end()};
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.delivered > b.second.delivered; });
  std::vector<std::string> series;
  for (const auto& [name, sum] : sorted) series.push_back(total_json(name, sum));
  return JsonObject{}.text("window", window.name).text("kind", name(request.kind)).array("series", series).str();
}

}  // namespace sluice::ops
