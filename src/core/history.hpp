// The history of deliveries, and the histograms that it keeps.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice {

// A histogram of durations whose buckets grow with what they hold: 32 for each doubling, exact below 32 µs, so that a
// quantile is wrong by at most one part in 64, whether events take microseconds or hours. Pure.
//
// Two histograms of the same moments add up to the histogram of all of them: processes, minutes and hours merge.

class DurationHistogram {
 public:
  using Bucket = std::uint16_t;
  using Counts = std::vector<std::pair<Bucket, std::int64_t>>;  ///< by bucket, none of them empty

  /// What is negative counts as zero; what is longer than 2^44 µs, half a year, as that long.
  static Bucket bucket_of(Duration value);
  /// The bucket holds `lower(bucket)` up to, and without, `lower(bucket + 1)`.
  static Duration lower(Bucket bucket);

  void add(Duration value, std::int64_t times = 1) { add(bucket_of(value), times); }
  void add(Bucket bucket, std::int64_t times);
  void merge(const DurationHistogram& other);

  [[nodiscard]] bool empty() const { return counts_.empty(); }
  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] const Counts& counts() const { return counts_; }

  /// The value that the share `q` (0 to 1) does not exceed: the middle of the bucket that holds the nearest rank. None:
  /// nothing was counted.
  [[nodiscard]] std::optional<Duration> quantile(double q) const;

  /// `312:5 313:17`, bucket and count; empty for none.
  [[nodiscard]] std::string text() const;
  static Result<DurationHistogram> parse(std::string_view text);

  bool operator==(const DurationHistogram&) const = default;

 private:
  Counts counts_;
};

// The history of deliveries: what happened in each minute, by handler, event type and sink. Pure: counts in, rows out.
//
// Whoever delivers keeps a book and hands it to the store, which adds it up; the minutes of a day and the hours of 45
// days are kept. See docs/how-to/monitor.md for what each figure is measured from.

inline constexpr Duration kHistoryMinutesKept = std::chrono::hours{24};
inline constexpr Duration kHistoryHoursKept = std::chrono::hours{24 * 45};

enum class HistoryKind { all, handler, type, sink };
/// The stable names, by HistoryKind.
inline constexpr std::array<std::string_view, 4> kHistoryKinds{"all", "handler", "type", "sink"};
constexpr std::string_view name(HistoryKind kind) { return kHistoryKinds[static_cast<std::size_t>(kind)]; }
std::optional<HistoryKind> history_kind(std::string_view text);

struct HistorySeries {
  HistoryKind kind = HistoryKind::all;
  std::string name;  ///< empty of `all`

  auto operator<=>(const HistorySeries&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// What happened in one minute, or one hour.
struct HistoryCounts {
  // Of all and of a type: events. Of a handler and of a sink: runs, that is deliveries of one event.
  std::int64_t delivered = 0;
  std::int64_t replayed = 0;  ///< of delivered: after a replay
  std::int64_t failed = 0;    ///< became dead letters; of a handler and a sink: runs that failed
  std::int64_t retried = 0;   ///< attempts that failed and are made again
  // Of all and of a type: from when the event occurred until it was settled as delivered. Of a handler and of a sink:
  // how long a run took.
  DurationHistogram first;    ///< delivered as soon as it could be: not retried, scheduled, kept waiting or replayed
  DurationHistogram later;    ///< the others that were never replayed
  DurationHistogram replays;  ///< from the latest replay on: the time as a dead letter is not part of it
  // Of all, seen from outside; of several processes the highest counts. None: nobody looked.
  std::optional<std::int64_t> newest;  ///< the number of the newest event
  std::optional<std::int64_t> backlog;
  std::optional<std::int64_t> lag_ms;

  void add(const HistoryCounts& other);
  bool operator==(const HistoryCounts&) const = default;
};

struct HistoryRow {
  Timestamp at{};  ///< when the minute, or the hour, begins
  HistorySeries series;
  HistoryCounts counts;
};

/// Series beyond these share one that is called `other`, per kind, so that no input makes history grow.
inline constexpr std::size_t kMostHistorySeries = 50;
inline constexpr std::string_view kOtherSeries = "other";

class HistoryBook {
 public:
  /// The counts of the minute that `at` is in.
  HistoryCounts& at(Timestamp at, HistoryKind kind, std::string_view name = {});
  void merge(const HistoryBook& other);
  [[nodiscard]] bool empty() const { return minutes_.empty(); }
  [[nodiscard]] std::vector<HistoryRow> rows() const;
  /// Forgets the counts, not which series have names of their own.
  void clear() { minutes_.clear(); }

 private:
  std::map<std::pair<Timestamp, HistorySeries>, HistoryCounts> minutes_;
  std::array<std::set<std::string, std::less<>>, kHistoryKinds.size()> named_;
};

}  // namespace sluice
