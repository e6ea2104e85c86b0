#include "core/history.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "core/words.hpp"

namespace sluice {
namespace {

constexpr unsigned kBits = 5;  // of a value that a bucket tells apart, behind the highest
constexpr std::uint64_t kPerDoubling = std::uint64_t{1} << kBits;
constexpr std::uint64_t kMost = std::uint64_t{1} << 44U;

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

// Below 32 a bucket is a value. Above, it is the position of the highest bit and the five bits behind it.
DurationHistogram::Bucket DurationHistogram::bucket_of(Duration value) {
  const auto us = std::min(static_cast<std::uint64_t>(std::max<Duration::rep>(value.count(), 0)), kMost);
  if (us < kPerDoubling) return static_cast<Bucket>(us);
  const auto shift = static_cast<unsigned>(std::bit_width(us)) - kBits - 1;
  return static_cast<Bucket>(shift * kPerDoubling + (us >> shift));
}

Duration DurationHistogram::lower(Bucket bucket) {
  if (bucket < 2 * kPerDoubling) return Duration{bucket};
  const auto shift = bucket / kPerDoubling - 1;
  return Duration{static_cast<Duration::rep>((bucket % kPerDoubling + kPerDoubling) << shift)};
}

void DurationHistogram::add(Bucket bucket, std::int64_t times) {
  if (times <= 0) return;
  const auto place = std::lower_bound(counts_.begin(), counts_.end(), bucket,
                                      [](const auto& entry, Bucket wanted) { return entry.first < wanted; });
  if (place != counts_.end() && place->first == bucket) {
    place->second += times;
  } else {
    counts_.insert(place, {bucket, times});
  }
}

void DurationHistogram::merge(const DurationHistogram& other) {
  if (counts_.empty()) {
    counts_ = other.counts_;
    return;
  }
  for (const auto& [bucket, times] : other.counts_) add(bucket, times);
}

std::int64_t DurationHistogram::count() const {
  std::int64_t all = 0;
  for (const auto& [bucket, times] : counts_) all += times;
  return all;
}

std::optional<Duration> DurationHistogram::quantile(double q) const {
  if (counts_.empty()) return std::nullopt;
  const auto rank = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count()))));
  std::int64_t below = 0;
  for (const auto& [bucket, times] : counts_) {
    below += times;
    if (below >= rank) return lower(bucket) + (lower(static_cast<Bucket>(bucket + 1)) - lower(bucket)) / 2;
  }
  return lower(counts_.back().first);
}

std::string DurationHistogram::text() const {
  std::string out;
  for (const auto& [bucket, times] : counts_) {
    if (!out.empty()) out += ' ';
    out += std::to_string(bucket) + ':' + std::to_string(times);
  }
  return out;
}

Result<DurationHistogram> DurationHistogram::parse(std::string_view text) {
  DurationHistogram histogram;
  if (text.empty()) return histogram;
  for (const std::string_view entry : split(text, ' ')) {
    const auto colon = entry.find(':');
    Bucket bucket = 0;
    std::int64_t times = 0;
    const bool read = colon != std::string_view::npos && read_number(entry.substr(0, colon), bucket) &&
                      read_number(entry.substr(colon + 1), times);
    if (!read || times <= 0) return invalid("histogram", "a histogram has no entry `" + std::string{entry} + "`");
    histogram.add(bucket, times);
  }
  return histogram;
}

namespace {

void keep_higher(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& other) {
  if (other) value = std::max(value.value_or(*other), *other);
}

}  // namespace

std::optional<HistoryKind> history_kind(std::string_view text) {
  const auto found = std::find(kHistoryKinds.begin(), kHistoryKinds.end(), text);
  if (found == kHistoryKinds.end()) return std::nullopt;
  return static_cast<HistoryKind>(found - kHistoryKinds.begin());
}

void HistoryCounts::add(const HistoryCounts& other) {
  delivered += other.delivered;
  replayed += other.replayed;
  failed += other.failed;
  retried += other.retried;
  first.merge(other.first);
  later.merge(other.later);
  replays.merge(other.replays);
  keep_higher(newest, other.newest);
  keep_higher(backlog, other.backlog);
  keep_higher(lag_ms, other.lag_ms);
}

HistoryCounts& HistoryBook::at(Timestamp at, HistoryKind kind, std::string_view name) {
  auto& named = named_.at(static_cast<std::size_t>(kind));
  if (!named.contains(name)) {
    if (named.size() >= kMostHistorySeries) {
      name = kOtherSeries;
    } else {
      named.emplace(name);
    }
  }
  const Timestamp minute = std::chrono::floor<std::chrono::minutes>(at);
  return minutes_[{minute, {kind, std::string{name}}}];
}

void HistoryBook::merge(const HistoryBook& other) {
  for (const auto& [key, counts] : other.minutes_) at(key.first, key.second.kind, key.second.name).add(counts);
}

std::vector<HistoryRow> HistoryBook::rows() const {
  std::vector<HistoryRow> all;
  all.reserve(minutes_.size());
  for (const auto& [key, counts] : minutes_) all.push_back({key.first, key.second, counts});
  return all;
}

}  // namespace sluice
