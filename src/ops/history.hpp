// The charts: rows of the history as points at even distances, what is not known left open. Counts of the points add up
// to the counts of the rows; quantiles come from merged histograms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "core/history.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// How far back a chart goes, and how far its points are apart.
struct ChartWindow {
  std::string_view name;
  Duration length{};
  Duration interval{};
  bool hourly = false;  ///< drawn from the hours, else from the minutes

  /// When its first point begins; points lie at whole intervals, so that they do not wander from one answer to the
  /// next.
  [[nodiscard]] Timestamp from(Timestamp now) const;
};

/// `10m`, `1h`, `6h`, `24h`, `7d` or `45d`; the error names `window`.
Result<ChartWindow> parse_window(std::string_view text);

struct ChartPoint {
  Timestamp at{};                         ///< when it begins
  std::optional<HistoryCounts> counts;    ///< none: nothing is known of this time, a gap
  std::optional<std::int64_t> published;  ///< none: nobody looked at its beginning and at its end
};

/// Pure. `rows` are of one series, or several to be summed, by time; a row before the first point tells from where what
/// was published counts. The last point is the interval that is under way.
std::vector<ChartPoint> chart_points(const std::vector<HistoryRow>& rows, const ChartWindow& window, Timestamp now);

/// A handler, type or sink that did nothing in an interval has no row: where something is known of all deliveries, that
/// is zero and no gap.
void fill_quiet(std::vector<ChartPoint>& points, const std::vector<ChartPoint>& all);

/// `{"interval_seconds":60,"times":[…],"delivered":[…],…,"p99_ms":[…]}`: a value or null per point.
std::string chart_json(const std::vector<ChartPoint>& points, const ChartWindow& window);

struct HistoryRequest {
  ChartWindow window;
  HistoryKind kind = HistoryKind::all;
  std::optional<std::string> name;  ///< none, of a kind that has names: what there is, with totals
};

/// Checks the texts that a caller gave; the error names `window`, `kind` or `name`.
Result<HistoryRequest> history_request(std::string_view window, std::string_view kind, std::optional<std::string> name);

/// The chart of one series; or `{"series":[{"name":…,"delivered":…,"p99_ms":…}]}`, most deliveries first.
Result<std::string> report_history(store::Administering& store, const HistoryRequest& request);

}  // namespace sluice::ops
