#include "telemetry/metrics.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cmath>
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

// A bound belongs to the bucket below it.
std::size_t Histogram::bucket_of(double value) const {
  return static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin());
}

void Histogram::observe(double value, std::string_view traceparent, Timestamp at) {
  observe_many(value, 1);
  const auto span = parse_traceparent(traceparent);
  if (!span || !span->is_sampled()) return;
  const std::unique_lock lock{mutex_, std::try_to_lock};
  if (lock) exemplars_.insert_or_assign(bucket_of(value), Exemplar{value, at, *span});
}

void Histogram::observe_many(double value, std::uint64_t times) {
  counts_[bucket_of(value)].fetch_add(times, std::memory_order_relaxed);
  sum_.fetch_add(value * static_cast<double>(times), std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot snapshot;
  snapshot.counts.reserve(counts_.size());
  for (const auto& count : counts_) snapshot.counts.push_back(count.load(std::memory_order_relaxed));
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  const std::lock_guard lock{mutex_};
  snapshot.exemplars = exemplars_;
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
    // clang 14 makes this of every family, whatever the function requires.
    if constexpr (std::same_as<Metric, Gauge>) series_.emplace(labels, make()).first->second->set(value);
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

namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), written.ptr};
}

/// OpenMetrics wants a bound to look like a number with a fraction.
std::string bound_text(double bound, MetricsFormat format) {
  std::string text = number(bound);
  const bool whole = text.find_first_of(".en") == std::string::npos;
  return format == MetricsFormat::openmetrics && whole ? text + ".0" : text;
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

/// `{a="x",b="y"}`, or nothing without labels. A bucket has one more: `le`.
std::string label_text(const std::vector<std::string>& names, const Labels& values, std::string_view bound = {}) {
  std::string text;
  const auto add = [&](std::string_view label, std::string_view value) {
    text += text.empty() ? '{' : ',';
    text += label;
    text += "=\"" + escaped(value, true) + '"';
  };
  for (std::size_t at = 0; at < names.size(); ++at) add(names[at], values[at]);
  if (!bound.empty()) add("le", bound);
  return text.empty() ? text : text + '}';
}

class Page {
 public:
  explicit Page(MetricsFormat format) : format_(format) {}

  template <class Metric>
  void add(MetricKind kind, const Family<Metric>& family) {
    const MetricDescription& description = family.description();
    const bool open = format_ == MetricsFormat::openmetrics;
    // OpenMetrics names a counter's family without the suffix that its samples have.
    std::string_view family_name = description.name;
    if (open && kind == MetricKind::counter) family_name.remove_suffix(std::string_view{"_total"}.size());
    text_ += "# HELP " + std::string{family_name} + ' ' + escaped(description.help, open) + '\n';
    text_ += "# TYPE " + std::string{family_name} + ' ' + std::string{name(kind)} + '\n';
    family.each([&](const Labels& labels, const Metric& metric) { sample(description, labels, metric); });
  }
  std::string finish() && {
    if (format_ == MetricsFormat::openmetrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  void line(const std::string& metric, const std::string& labels, const std::string& value) {
    text_ += metric + labels + ' ' + value + '\n';
  }
  void sample(const MetricDescription& description, const Labels& labels, const Counter& counter) {
    line(description.name, label_text(description.labels, labels), std::to_string(counter.value()));
  }
  void sample(const MetricDescription& description, const Labels& labels, const Gauge& gauge) {
    line(description.name, label_text(description.labels, labels), number(gauge.value()));
  }
  void sample(const MetricDescription& description, const Labels& labels, const Histogram& histogram) {
    const Histogram::Snapshot seen = histogram.snapshot();
    std::uint64_t total = 0;
    for (std::size_t at = 0; at < seen.counts.size(); ++at) {
      total += seen.counts[at];
      const std::string bound = at < histogram.bounds().size() ? bound_text(histogram.bounds()[at], format_) : "+Inf";
      line(description.name + "_bucket", label_text(description.labels, labels, bound),
           std::to_string(total) + exemplar_text(seen, at));
    }
    const std::string own = label_text(description.labels, labels);
    line(description.name + "_sum", own, number(seen.sum));
    line(description.name + "_count", own, std::to_string(total));
  }

  // ` # {trace_id="…",span_id="…"} 0.067 1520879607.789`: the older format has no place for it.
  [[nodiscard]] std::string exemplar_text(const Histogram::Snapshot& seen, std::size_t bucket) const {
    const auto found = seen.exemplars.find(bucket);
    if (format_ != MetricsFormat::openmetrics || found == seen.exemplars.end()) return {};
    const Histogram::Exemplar& exemplar = found->second;
    const std::chrono::duration<double> at = exemplar.at.time_since_epoch();
    return " # " + label_text({"trace_id", "span_id"}, {exemplar.span.trace_id(), exemplar.span.span_id_text()}) + ' ' +
           number(exemplar.value) + ' ' + number(at.count());
  }

  MetricsFormat format_;
  std::string text_;
};

}  // namespace

MetricsFormat metrics_format(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? MetricsFormat::prometheus
                                                                               : MetricsFormat::openmetrics;
}

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

std::string expose(const Registry& registry, MetricsFormat format) {
  Page page{format};
  registry.each([&](MetricKind kind, const auto& family) { page.add(kind, family); });
  return std::move(page).finish();
}

}  // namespace sluice::telemetry
