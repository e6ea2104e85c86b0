// Metrics: counters, gauges and histograms with labels, for a scraper and for the daemon's own charts.
//
// A metric stays where it is as long as its registry lives, and touching it takes no lock: what events pass
// through holds on to its metrics. Finding one by its labels takes a short lock.
//
// Thread-safety: everything may be called from any thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/time.hpp>
#include "core/trace_context.hpp"

namespace sluice::telemetry {

class Counter {
 public:
  void add(std::uint64_t events = 1) { value_.fetch_add(events, std::memory_order_relaxed); }
  /// Takes over a total that is counted elsewhere; a smaller one is ignored. Not together with add().
  void follow(std::int64_t total);
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

class Histogram {
 public:
  /// `bounds` ascend; what is above the last one has a bucket of its own.
  explicit Histogram(std::vector<double> bounds);

  void observe(double value);
  void observe_many(double value, std::uint64_t times);
  /// The same, and where the span is sampled it is kept as an example of its bucket, the latest of each.
  void observe(double value, std::string_view traceparent, Timestamp at);

  /// A value that was seen, and the span that it was seen in.
  struct Exemplar {
    double value = 0;
    Timestamp at{};
    TraceContext span;
  };

  struct Snapshot {
    std::vector<std::uint64_t> counts;  ///< per bucket, not summed up; one more than there are bounds
    double sum = 0;
    std::map<std::size_t, Exemplar> exemplars{};  ///< by bucket

    [[nodiscard]] std::uint64_t count() const;
  };
  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }

 private:
  [[nodiscard]] std::size_t bucket_of(double value) const;

  std::vector<double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
  mutable std::mutex mutex_;  // guards the exemplars; who observes never waits for it
  std::map<std::size_t, Exemplar> exemplars_;
};

enum class MetricKind { counter, gauge, histogram };
std::string_view name(MetricKind kind);

/// Values of labels, in the order of the family's names.
using Labels = std::vector<std::string>;

struct MetricDescription {
  std::string name;  ///< of a counter: ends in `_total`
  std::string help;  ///< one sentence
  std::vector<std::string> labels{};
  /// Series beyond this many share one whose labels are all `other`, so that no input makes memory grow.
  std::size_t most_series = 1000;
  /// Of a metric without labels that is not always there: no sample before the first replace().
  bool optional = false;
};

/// All metrics of one name.
template <class Metric>
class Family {
 public:
  Family(MetricDescription description, std::vector<double> bounds);

  Metric& with(const Labels& values);
  /// The metric of a family without labels that is not optional.
  Metric* operator->() const { return only_; }

  /// These series instead of all there were: for things that come and go. References to them do not last.
  void replace(const std::map<Labels, double>& values) requires std::same_as<Metric, Gauge>;

  [[nodiscard]] const MetricDescription& description() const { return description_; }
  /// Calls `read(labels, metric)` for each series, in the order of the labels.
  template <class Read>
  void each(Read read) const {
    const std::lock_guard lock{mutex_};
    for (const auto& [labels, metric] : series_) read(labels, *metric);
  }

 private:
  [[nodiscard]] std::unique_ptr<Metric> make() const;

  MetricDescription description_;
  std::vector<double> bounds_;  // of histograms
  mutable std::mutex mutex_;
  std::map<Labels, std::unique_ptr<Metric>> series_;
  Metric* only_ = nullptr;
};

extern template class Family<Counter>;
extern template class Family<Gauge>;
extern template class Family<Histogram>;

/// Owns every family. A name is registered once (asserted).
class Registry {
 public:
  Family<Counter>& counter(MetricDescription description);
  Family<Gauge>& gauge(MetricDescription description);
  Family<Histogram>& histogram(MetricDescription description, std::vector<double> bounds);

  /// Calls `read(kind, family)` for each family, by name.
  template <class Read>
  void each(Read read) const {
    const std::lock_guard lock{mutex_};
    for (const auto& [family_name, family] : families_) {
      if (family.counters) read(MetricKind::counter, *family.counters);
      if (family.gauges) read(MetricKind::gauge, *family.gauges);
      if (family.histograms) read(MetricKind::histogram, *family.histograms);
    }
  }

 private:
  /// Exactly one is set.
  struct Entry {
    std::unique_ptr<Family<Counter>> counters;
    std::unique_ptr<Family<Gauge>> gauges;
    std::unique_ptr<Family<Histogram>> histograms;
  };
  Entry& enter(const std::string& family_name);

  mutable std::mutex mutex_;
  std::map<std::string, Entry> families_;
};

enum class MetricsFormat { prometheus, openmetrics };

/// What an Accept header asks for; everything but OpenMetrics is answered with the older format.
MetricsFormat metrics_format(std::string_view accept);
std::string_view content_type(MetricsFormat format);

/// Families by name, series by labels: the same metrics are always the same text.
std::string expose(const Registry& registry, MetricsFormat format = MetricsFormat::prometheus);

}  // namespace sluice::telemetry
