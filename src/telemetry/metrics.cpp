#include "telemetry/metrics.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace sluice::telemetry {

void Counter::follow(std::int64_t total) {
  if (total < 0) return;
  const auto wanted = static_cast<std::uint64_t>(total);
  std::uint64_t seen = value();
  while (seen < wanted && !value_.compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) {
  }
}

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  assert(std::is_sorted(bounds_.begin(), bounds_.end()));
}

void Histogram::observe(double value) { observe_many(value, 1); }

void Histogram::observe_many(double value, std::uint64_t times) {
  // A bound belongs to the bucket below it.
  const auto bucket =
      static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin());
  counts_[bucket].fetch_add(times, std::memory_order_relaxed);
  sum_.fetch_add(value * static_cast<double>(times), std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot snapshot;
  snapshot.counts.reserve(counts_.size());
  for (const auto& count : counts_) snapshot.counts.push_back(count.load(std::memory_order_relaxed));
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  return snapshot;
}

std::uint64_t Histogram::Snapshot::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::string_view name(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "counter";
    case MetricKind::gauge:
      return "gauge";
    case MetricKind::histogram:
      return "histogram";
  }
  return "";
}

template <class Metric>
Family<Metric>::Family(MetricDescription description, std::vector<double> bounds)
    : description_(std::move(description)), bounds_(std::move(bounds)) {
  if (description_.labels.empty() && !description_.optional) only_ = &with({});
}

template <class Metric>
std::unique_ptr<Metric> Family<Metric>::make() const {
  if constexpr (std::same_as<Metric, Histogram>) {
    return std::make_unique<Metric>(bounds_);
  } else {
    return std::make_unique<Metric>();
  }
}

template <class Metric>
Metric& Family<Metric>::with(const Labels& values) {
  assert(values.size() == description_.labels.size());
  const std::lock_guard lock{mutex_};
  auto found = series_.find(values);
  if (found != series_.end()) return *found->second;
  const bool full = series_.size() >= description_.most_series;
  found = series_.try_emplace(full ? Labels(values.size(), "other") : values).first;
  if (!found->second) found->second = make();
  return *found->second;
}

template <class Metric>
void Family<Metric>::replace(const std::map<Labels, double>& values) requires std::same_as<Metric, Gauge> {
  const std::lock_guard lock{mutex_};
  series_.clear();
  for (const auto& [labels, value] : values) {
    assert(labels.size() == description_.labels.size());
    if (series_.size() >= description_.most_series) break;
    series_.emplace(labels, make()).first->second->set(value);
  }
}

template class Family<Counter>;
template class Family<Gauge>;
template class Family<Histogram>;

Registry::Entry& Registry::enter(const std::string& family_name) {
  const auto [entry, fresh] = families_.try_emplace(family_name);
  assert(fresh);
  return entry->second;
}

Family<Counter>& Registry::counter(MetricDescription description) {
  assert(description.name.ends_with("_total"));
  const std::lock_guard lock{mutex_};
  Entry& entry = enter(description.name);
  entry.counters = std::make_unique<Family<Counter>>(std::move(description), std::vector<double>{});
  return *entry.counters;
}

Family<Gauge>& Registry::gauge(MetricDescription description) {
  const std::lock_guard lock{mutex_};
  Entry& entry = enter(description.name);
  entry.gauges = std::make_unique<Family<Gauge>>(std::move(description), std::vector<double>{});
  return *entry.gauges;
}

Family<Histogram>& Registry::histogram(MetricDescription description, std::vector<double> bounds) {
  const std::lock_guard lock{mutex_};
  Entry& entry = enter(description.name);
  entry.histograms = std::make_unique<Family<Histogram>>(std::move(description), std::move(bounds));
  return *entry.histograms;
}

}  // namespace sluice::telemetry
