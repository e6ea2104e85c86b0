// A histogram of durations whose buckets grow with what they hold: 32 for each doubling, exact below 32 µs, so that a
// quantile is wrong by at most one part in 64, whether events take microseconds or hours. Pure.
//
// Two histograms of the same moments add up to the histogram of all of them: processes, minutes and hours merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice {

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

}  // namespace sluice
