// The keys of [otel]: where traces, metrics and the log go. The variables are those that OpenTelemetry has for every
// program.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "config/addresses.hpp"
#include "config/key_table.hpp"
#include "config/key_values.hpp"
#include "core/characters.hpp"
#include "core/trace_context.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::config {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Exporter = OtelConfig::Exporter;
using LogExporter = OtelConfig::LogExporter;
using Compression = OtelConfig::Compression;
using Protocol = OtelConfig::Protocol;
using Sampler = OtelConfig::Sampler;

constexpr std::array kExporters{std::pair{std::string_view{"otlp"}, Exporter::otlp}, std::pair{kNone, Exporter::none}};
constexpr std::array kLogExporters{std::pair{std::string_view{"auto"}, LogExporter::automatic},
                                   std::pair{std::string_view{"otlp"}, LogExporter::otlp},
                                   std::pair{kNone, LogExporter::none}};
constexpr std::array kCompressions{std::pair{kNone, Compression::none},
                                   std::pair{std::string_view{"gzip"}, Compression::gzip}};
constexpr std::array kProtocols{std::pair{std::string_view{"http/json"}, Protocol::http_json},
                                std::pair{std::string_view{"http/protobuf"}, Protocol::http_protobuf},
                                std::pair{std::string_view{"grpc"}, Protocol::grpc}};
constexpr std::array kSamplers{
    std::pair{std::string_view{"parentbased_always_on"}, Sampler::parentbased_always_on},
    std::pair{std::string_view{"parentbased_traceidratio"}, Sampler::parentbased_traceidratio},
    std::pair{std::string_view{"parentbased_always_off"}, Sampler::parentbased_always_off},
    std::pair{std::string_view{"always_on"}, Sampler::always_on},
    std::pair{std::string_view{"traceidratio"}, Sampler::traceidratio},
    std::pair{std::string_view{"always_off"}, Sampler::always_off}};

// Without the text itself: an address may hold a password, and headers hold keys.
Error refused_secret(const Given& given, const std::string& expected) {
  return invalid(std::string{given.where}, std::string{given.where} + ": the value is not " + expected);
}

Result<void> read_endpoint(std::string& into, const Given& given) {
  into.clear();
  if (given.text == kNone) return {};
  if (!is_http_url(given.text)) {
    return refused_secret(given, "the address of a collector; write http://HOST:4318, its port for OTLP over HTTP");
  }
  into = given.text;
  while (into.ends_with('/')) into.pop_back();
  return {};
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escaped =
        text[at] == '%' && at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
    out += escaped ? static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2])) : text[at];
    if (escaped) at += 2;
  }
  return out;
}

// `a=1,b=two%20words`
Result<void> read_pairs(Pairs& into, const Given& given, const std::string& expected,
                        bool (*is_good)(const std::string& key, const std::string& value)) {
  into.clear();
  if (given.text == kNone) return {};
  for (std::string_view rest = given.text; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view pair = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return refused_secret(given, expected);
    std::string key{trimmed(pair.substr(0, equals))};
    std::string value = percent_decoded(trimmed(pair.substr(equals + 1)));
    if (!is_good(key, value)) return refused_secret(given, expected);
    into.emplace_back(std::move(key), std::move(value));
  }
  return {};
}

// The variables have whole milliseconds; a file has durations like every other key.
Result<void> read_milliseconds(Duration& into, const Given& given) {
  const bool number = !given.text.empty() && std::all_of(given.text.begin(), given.text.end(), is_digit);
  if (!number) return read(into, given);
  const std::string text = std::string{given.text} + "ms";
  const auto parsed = parse_duration(text, given.where);
  if (!parsed || *parsed <= Duration::zero()) return refused(given, "a duration above zero: 10s, or milliseconds");
  into = *parsed;
  return {};
}

Result<void> read_ratio(double& into, const Given& given) {
  double ratio = 0;
  const char* end = given.text.data() + given.text.size();
  const auto [stop, problem] = std::from_chars(given.text.data(), end, ratio);
  if (problem != std::errc{} || stop != end || !(ratio >= 0 && ratio <= 1)) {
    return refused(given, "a ratio from 0 to 1; 0.01 is one trace in a hundred");
  }
  into = ratio;
  return {};
}

// The specification takes it in any case.
Result<void> read_any_case_flag(bool& into, const Given& given) {
  std::string text;
  for (const char c : given.text) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return read_flag(into, {text, given.where});
}

bool is_header(const std::string& key, const std::string& value) {
  return is_header_name(key) && is_header_value(value);
}
bool is_attribute(const std::string& key, const std::string&) { return !key.empty(); }

Result<void> read_trace_url(std::string& into, const Given& given) {
  into.clear();
  if (given.text == kNone) return {};
  const std::size_t place = given.text.find(kTraceIdPlace);
  const bool once =
      place != std::string_view::npos && given.text.find(kTraceIdPlace, place + 1) == std::string_view::npos;
  std::string filled{given.text};
  if (once) filled.replace(place, kTraceIdPlace.size(), "0");
  if (!once || !is_http_url(filled)) {
    return refused(given, "an address with {trace_id} in it once; write https://HOST/trace/{trace_id}");
  }
  into = given.text;
  return {};
}

std::vector<Key> endpoint_keys() {
  return {
      {"otel.endpoint",
       "",
       {"OTEL_EXPORTER_OTLP_ENDPOINT"},
       kNone,
       "the collector that gets traces, metrics and, with otel.logs, the log over OTLP/HTTP: http://HOST:4318",
       Secrecy::address,
       [](Config& c, const Given& g) { return read_endpoint(c.otel.endpoint, g); }},
      {"otel.traces_endpoint",
       "",
       {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
       kNone,
       "the whole address for traces, in place of otel.endpoint/v1/traces",
       Secrecy::address,
       [](Config& c, const Given& g) { return read_endpoint(c.otel.traces_endpoint, g); }},
      {"otel.metrics_endpoint",
       "",
       {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"},
       kNone,
       "the whole address for metrics, in place of otel.endpoint/v1/metrics",
       Secrecy::address,
       [](Config& c, const Given& g) { return read_endpoint(c.otel.metrics_endpoint, g); }},
      {"otel.logs_endpoint",
       "",
       {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"},
       kNone,
       "the whole address for the log, in place of otel.endpoint/v1/logs",
       Secrecy::address,
       [](Config& c, const Given& g) { return read_endpoint(c.otel.logs_endpoint, g); }},
      {"otel.headers",
       "",
       {"OTEL_EXPORTER_OTLP_HEADERS"},
       kNone,
       "headers of every request to the collector: api-key=…,other=…",
       Secrecy::whole,
       [](Config& c, const Given& g) {
         return read_pairs(c.otel.headers, g, "headers; write name=value,other=value", is_header);
       }},
      {"otel.protocol",
       "",
       {"OTEL_EXPORTER_OTLP_PROTOCOL"},
       "http/json",
       "http/json is what is sent; http/protobuf is taken to mean the same address, grpc is not spoken",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.otel.protocol, g, kProtocols); }},
      {"otel.compression",
       "",
       {"OTEL_EXPORTER_OTLP_COMPRESSION"},
       kNone,
       "gzip or none",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.otel.compression, g, kCompressions); }},
      {"otel.timeout",
       "",
       {"OTEL_EXPORTER_OTLP_TIMEOUT"},
       "10s",
       "of one request to the collector; a number without a unit is milliseconds",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_milliseconds(c.otel.timeout, g); }},
  };
}

std::vector<Key> exporter_keys() {
  return {
      {"otel.disabled",
       "",
       {"OTEL_SDK_DISABLED"},
       "false",
       "nothing is sent to a collector",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_any_case_flag(c.otel.disabled, g); }},
      {"otel.traces",
       "",
       {"OTEL_TRACES_EXPORTER"},
       "otlp",
       "otlp, or none: no traces",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.otel.traces, g, kExporters); }},
      {"otel.metrics",
       "",
       {"OTEL_METRICS_EXPORTER"},
       "otlp",
       "otlp, or none: no metrics; GET /metrics has them in any case",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.otel.metrics, g, kExporters); }},
      {"otel.logs",
       "",
       {"OTEL_LOGS_EXPORTER"},
       "auto",
       "otlp: the daemon's log goes to the collector too; none: it does not; auto: only with otel.logs_endpoint",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.otel.logs, g, kLogExporters); }},
  };
}

std::vector<Key> content_keys() {
  return {
      {"otel.sampler",
       "",
       {"OTEL_TRACES_SAMPLER"},
       "parentbased_always_on",
       "which traces are recorded: parentbased_always_on, parentbased_traceidratio, parentbased_always_off, always_on, "
       "traceidratio or always_off",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.otel.sampler, g, kSamplers); }},
      {"otel.sampler_arg",
       "",
       {"OTEL_TRACES_SAMPLER_ARG"},
       "1",
       "the ratio of the traceidratio samplers, from 0 to 1",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_ratio(c.otel.sampler_arg, g); }},
      {"otel.service_name",
       "",
       {"OTEL_SERVICE_NAME"},
       kNone,
       "service.name in traces and metrics; none is the key service",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.otel.service_name, g); }},
      {"otel.resource_attributes",
       "",
       {"OTEL_RESOURCE_ATTRIBUTES"},
       kNone,
       "what else traces and metrics say about their sender: deployment.environment.name=production,team=web",
       Secrecy::open,
       [](Config& c, const Given& g) {
         return read_pairs(c.otel.resource, g, "attributes; write key=value,other=value", is_attribute);
       }},
      {"otel.metric_interval",
       "",
       {"OTEL_METRIC_EXPORT_INTERVAL"},
       "30s",
       "between two exports of metrics; a number without a unit is milliseconds",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_milliseconds(c.otel.metric_interval, g); }},
      {"trace_url",
       "",
       {"SLUICE_TRACE_URL"},
       kNone,
       "where a trace can be seen: https://HOST/trace/{trace_id}; events are shown with it",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_trace_url(c.trace_url, g); }},
  };
}

std::string url_of(const OtelConfig& otel, Exporter exporter, const std::string& whole, const char* path) {
  if (otel.disabled || exporter == Exporter::none) return {};
  if (!whole.empty()) return whole;
  return otel.endpoint.empty() ? std::string{} : otel.endpoint + path;
}

}  // namespace

std::vector<Key> otel_keys() {
  std::vector<Key> rows = endpoint_keys();
  for (auto more : {exporter_keys(), content_keys()}) {
    for (Key& key : more) rows.push_back(std::move(key));
  }
  return rows;
}

std::string OtelConfig::traces_url() const { return url_of(*this, traces, traces_endpoint, "/v1/traces"); }
std::string OtelConfig::logs_url() const {
  const bool wanted = logs == LogExporter::otlp || (logs == LogExporter::automatic && !logs_endpoint.empty());
  return url_of(*this, wanted ? Exporter::otlp : Exporter::none, logs_endpoint, "/v1/logs");
}
std::string OtelConfig::metrics_url() const { return url_of(*this, metrics, metrics_endpoint, "/v1/metrics"); }

bool OtelConfig::samples_by_parent() const { return sampler < Sampler::always_on; }

double OtelConfig::sample_ratio() const {
  switch (sampler) {
    case Sampler::parentbased_traceidratio:
    case Sampler::traceidratio:
      return sampler_arg;
    case Sampler::parentbased_always_off:
    case Sampler::always_off:
      return 0;
    case Sampler::parentbased_always_on:
    case Sampler::always_on:
      break;
  }
  return 1;
}

Result<void> check_otel(const OtelConfig& otel) {
  const bool sends = !otel.traces_url().empty() || !otel.metrics_url().empty() || !otel.logs_url().empty();
  if (!sends || otel.protocol != Protocol::grpc) return {};
  return invalid(
      "otel.protocol",
      "otel.protocol: grpc is not spoken here; set OTEL_EXPORTER_OTLP_PROTOCOL=http/json and let the endpoint "
      "be the collector's HTTP port, usually 4318");
}

}  // namespace sluice::config
