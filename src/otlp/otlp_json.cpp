#include "otlp/otlp_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/json.hpp"

namespace sluice::otlp {
namespace {

constexpr std::string_view kScope = "sluice";
constexpr int kCumulative = 2;
constexpr int kStatusError = 2;

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// JSON has no word for these; the mapping of protobuf has.
void append_double(std::string& out, double number) {
  if (std::isfinite(number)) return append_number(out, number);
  out += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

// 64 bits do not fit into the numbers of JSON.
template <class Integer>
void append_integer(std::string& out, Integer number) {
  out += '"';
  append_number(out, number);
  out += '"';
}

void append_time(std::string& out, std::string_view name, Timestamp at) {
  out.append("\"").append(name).append("\":");
  append_integer(out, std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

void append_attribute(std::string& out, std::string_view key, std::string_view value) {
  out += R"({"key":)";
  json::append_quoted(out, key);
  out += R"(,"value":{"stringValue":)";
  json::append_quoted(out, value);
  out += "}}";
}

void append_attribute(std::string& out, std::string_view key, std::int64_t value) {
  out += R"({"key":)";
  json::append_quoted(out, key);
  out += R"(,"value":{"intValue":)";
  append_integer(out, value);
  out += "}}";
}

void append_attribute(std::string& out, std::string_view key, bool value) {
  out += R"({"key":)";
  json::append_quoted(out, key);
  out.append(R"(,"value":{"boolValue":)").append(value ? "true" : "false").append("}}");
}

void append_attribute(std::string& out, std::string_view key, double value) {
  out += R"({"key":)";
  json::append_quoted(out, key);
  out += R"(,"value":{"doubleValue":)";
  append_double(out, value);
  out += "}}";
}

template <class Items, class Append>
void append_list(std::string& out, std::string_view name, const Items& items, Append append) {
  out.append("\"").append(name).append("\":[");
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) out += ',';
    append(item);
  }
  out += ']';
}

void append_sender(std::string& out, const Sender& sender, std::string_view scoped) {
  out += R"({"resource":{)";
  append_list(out, "attributes", sender.resource,
              [&](const auto& each) { append_attribute(out, each.first, each.second); });
  out.append("},\"").append(scoped).append(R"(":[{"scope":{"name":)");
  json::append_quoted(out, kScope);
  out += R"(,"version":)";
  json::append_quoted(out, sender.version);
  out += "},";
}

void append_context(std::string& out, const TraceContext& context) {
  out.append(R"("traceId":")").append(context.trace_id());
  out.append(R"(","spanId":")").append(context.span_id_text()).append("\"");
}

void append_span(std::string& out, const SpanRecord& span) {
  out += '{';
  append_context(out, span.context);
  if (span.parent_span_id != 0) {
    const TraceContext parent{0, 0, span.parent_span_id, 0};
    out.append(R"(,"parentSpanId":")").append(parent.span_id_text()).append("\"");
  }
  out += R"(,"name":)";
  json::append_quoted(out, span.name);
  out += R"(,"kind":)";
  append_number(out, static_cast<int>(span.kind));
  out += ',';
  append_time(out, "startTimeUnixNano", span.started);
  out += ',';
  append_time(out, "endTimeUnixNano", span.ended);
  out += ',';
  append_list(out, "attributes", span.attributes, [&](const SpanRecord::Attribute& each) {
    std::visit([&](const auto& value) { append_attribute(out, each.key, value); }, each.value);
  });
  if (!span.links.empty()) {
    out += ',';
    append_list(out, "links", span.links, [&](const TraceContext& link) {
      out += '{';
      append_context(out, link);
      out += '}';
    });
  }
  if (span.dropped_links > 0) {
    out += R"(,"droppedLinksCount":)";
    append_number(out, span.dropped_links);
  }
  if (span.failed) {
    out += R"(,"status":{"code":)";
    append_number(out, kStatusError);
    out += R"(,"message":)";
    json::append_quoted(out, span.message);
    out += '}';
  }
  out += '}';
}

// The first number of each range that the protocol has.
int severity_of(telemetry::Level level) {
  switch (level) {
    case telemetry::Level::debug:
      return 5;
    case telemetry::Level::info:
      return 9;
    case telemetry::Level::warn:
      return 13;
    case telemetry::Level::error:
      return 17;
  }
  return 0;
}

void append_entry(std::string& out, const LogEntry& entry) {
  out += '{';
  append_time(out, "timeUnixNano", entry.at);
  out += ',';
  append_time(out, "observedTimeUnixNano", entry.at);
  out += R"(,"severityNumber":)";
  append_number(out, severity_of(entry.level));
  out.append(R"(,"severityText":")").append(telemetry::name(entry.level)).append(R"(","body":{"stringValue":)");
  json::append_quoted(out, entry.message);
  out += "},";
  append_list(out, "attributes", entry.fields, [&](const auto& field) {
    std::visit(
        [&](const auto& value) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
            append_attribute(out, field.first, value);
          }
        },
        field.second);
  });
  if (!entry.trace_id.empty()) out.append(R"(,"traceId":")").append(entry.trace_id).append("\"");
  if (!entry.span_id.empty()) out.append(R"(,"spanId":")").append(entry.span_id).append("\"");
  out += '}';
}

/// `s`, `By` or nothing, by the ending of the name, as Prometheus has it.
std::string_view unit_of(std::string_view name) {
  if (name.ends_with("_seconds")) return "s";
  if (name.ends_with("_bytes")) return "By";
  return name.ends_with("_ratio") ? "1" : "";
}

// Writes the families of a registry one after the other.
class MetricWriter {
 public:
  MetricWriter(std::string& out, const MetricTimes& times) : out_(out), times_(times) {}

  template <class Metric>
  void add(const telemetry::Family<Metric>& family) {
    const telemetry::MetricDescription& description = family.description();
    bool any = false;
    const std::size_t before = out_.size();
    if (!first_) out_ += ',';
    begin(description);
    open(static_cast<const Metric*>(nullptr));
    family.each([&](const telemetry::Labels& labels, const Metric& metric) {
      out_ += std::exchange(any, true) ? ",{" : "{";
      append_labels(description.labels, labels);
      point(metric);
      out_ += '}';
    });
    out_ += "]}}";
    // A family without a series has nothing to say.
    if (!any) return out_.resize(before);
    first_ = false;
  }

 private:
  void begin(const telemetry::MetricDescription& description) {
    std::string_view name = description.name;
    if (name.ends_with("_total")) name.remove_suffix(std::string_view{"_total"}.size());
    out_ += R"({"name":)";
    json::append_quoted(out_, name);
    out_ += R"(,"description":)";
    json::append_quoted(out_, description.help);
    out_ += R"(,"unit":)";
    json::append_quoted(out_, unit_of(name));
    out_ += ',';
  }
  void open_with(std::string_view kind, bool cumulative) {
    out_.append("\"").append(kind).append("\":{");
    if (cumulative) {
      out_ += R"("aggregationTemporality":)";
      append_number(out_, kCumulative);
      out_ += ',';
    }
  }
  void open(const telemetry::Counter*) {
    open_with("sum", true);
    out_ += R"("isMonotonic":true,"dataPoints":[)";
  }
  void open(const telemetry::Gauge*) {
    open_with("gauge", false);
    out_ += R"("dataPoints":[)";
  }
  void open(const telemetry::Histogram*) {
    open_with("histogram", true);
    out_ += R"("dataPoints":[)";
  }

  void append_labels(const std::vector<std::string>& names, const telemetry::Labels& values) {
    std::size_t at = 0;
    append_list(out_, "attributes", names,
                [&](const std::string& name) { append_attribute(out_, name, values[at++]); });
    out_ += ',';
  }
  void since() {
    append_time(out_, "startTimeUnixNano", times_.since);
    out_ += ',';
    now();
  }
  void now() { append_time(out_, "timeUnixNano", times_.now); }

  void point(const telemetry::Counter& counter) {
    since();
    out_ += R"(,"asInt":)";
    append_integer(out_, counter.value());
  }
  void point(const telemetry::Gauge& gauge) {
    now();
    out_ += R"(,"asDouble":)";
    append_double(out_, gauge.value());
  }
  void point(const telemetry::Histogram& histogram) {
    const telemetry::Histogram::Snapshot seen = histogram.snapshot();
    since();
    out_ += R"(,"count":)";
    append_integer(out_, seen.count());
    out_ += R"(,"sum":)";
    append_double(out_, seen.sum);
    out_ += ',';
    append_list(out_, "bucketCounts", seen.counts, [&](std::uint64_t count) { append_integer(out_, count); });
    out_ += ',';
    append_list(out_, "explicitBounds", histogram.bounds(), [&](double bound) { append_double(out_, bound); });
    if (seen.exemplars.empty()) return;
    out_ += ',';
    append_list(out_, "exemplars", seen.exemplars, [&](const auto& entry) {
      out_ += '{';
      append_time(out_, "timeUnixNano", entry.second.at);
      out_ += R"(,"asDouble":)";
      append_double(out_, entry.second.value);
      out_ += ',';
      append_context(out_, entry.second.span);
      out_ += '}';
    });
  }

  std::string& out_;
  const MetricTimes& times_;
  bool first_ = true;
};

std::int64_t integer_of(std::string_view raw) {
  if (raw.size() >= 2 && raw.front() == '"') raw = raw.substr(1, raw.size() - 2);
  std::int64_t value = 0;
  std::from_chars(raw.data(), raw.data() + raw.size(), value);
  return value;
}

}  // namespace

std::string traces_json(std::span<const SpanRecord> spans, const Sender& sender) {
  constexpr std::size_t kBytesPerSpan = 1024;
  std::string out;
  out.reserve(spans.size() * kBytesPerSpan);
  out += R"({"resourceSpans":[)";
  append_sender(out, sender, "scopeSpans");
  append_list(out, "spans", spans, [&](const SpanRecord& span) { append_span(out, span); });
  out += "}]}]}";
  return out;
}

std::string logs_json(std::span<const LogEntry> entries, const Sender& sender) {
  constexpr std::size_t kBytesPerEntry = 512;
  std::string out;
  out.reserve(entries.size() * kBytesPerEntry);
  out += R"({"resourceLogs":[)";
  append_sender(out, sender, "scopeLogs");
  append_list(out, "logRecords", entries, [&](const LogEntry& entry) { append_entry(out, entry); });
  out += "}]}]}";
  return out;
}

std::string metrics_json(const telemetry::Registry& registry, const MetricTimes& times, const Sender& sender) {
  std::string out = R"({"resourceMetrics":[)";
  append_sender(out, sender, "scopeMetrics");
  out += R"("metrics":[)";
  MetricWriter writer{out, times};
  registry.each([&](telemetry::MetricKind, const auto& family) { writer.add(family); });
  out += "]}]}]}";
  return out;
}

Rejected rejected_of(std::string_view answer) {
  Rejected rejected;
  const auto top = json::members(answer, "answer");
  if (!top) return rejected;
  for (const json::Member& member : *top) {
    if (member.name != "partialSuccess") continue;
    const auto inner = json::members(member.value, "answer");
    if (!inner) return rejected;
    for (const json::Member& each : *inner) {
      if (each.name.starts_with("rejected")) rejected.count = integer_of(each.value);
      if (each.name != "errorMessage") continue;
      if (auto text = json::string_value(each.value, "answer")) rejected.message = *std::move(text);
    }
  }
  return rejected;
}

}  // namespace sluice::otlp
