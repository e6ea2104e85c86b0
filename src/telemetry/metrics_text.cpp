#include "telemetry/metrics_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace sluice::telemetry {
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
      line(description.name + "_bucket", label_text(description.labels, labels, bound), std::to_string(total));
    }
    const std::string own = label_text(description.labels, labels);
    line(description.name + "_sum", own, number(seen.sum));
    line(description.name + "_count", own, std::to_string(total));
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
