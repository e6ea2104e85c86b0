#include "otlp/otlp_tracer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/utf8.hpp"

namespace sluice::otlp {
namespace {

constexpr std::size_t kAttributes = 10;  // of most spans

std::string name_of(const SpanStart& wanted) {
  std::string name{wanted.operation};
  return wanted.destination.empty() ? name : name.append(" ").append(wanted.destination);
}

bool any_is_sampled(const std::vector<TraceContext>& links) {
  return std::any_of(links.begin(), links.end(), [](const TraceContext& link) { return link.is_sampled(); });
}

std::vector<TraceContext> read_links(std::span<const std::string_view> texts) {
  std::vector<TraceContext> links;
  for (const std::string_view text : texts) {
    if (const auto link = parse_traceparent(text)) links.push_back(*link);
  }
  return links;
}

}  // namespace

class OtlpTracer::Recorded final : public Span {
 public:
  Recorded(OtlpTracer& tracer, SpanRecord record)
      : tracer_(tracer), record_(std::move(record)), traceparent_(record_.context.traceparent()) {
    record_.attributes.reserve(kAttributes);
  }
  ~Recorded() override {
    record_.ended = std::max(tracer_.options_.clock(), record_.started);
    tracer_.queue_.add(std::move(record_));
  }

  [[nodiscard]] std::string_view traceparent() const override { return traceparent_; }
  void set(std::string_view key, std::string_view value) override {
    record_.attributes.push_back({key, std::string{utf8::prefix(value, kMostBytes)}});
  }
  void set(std::string_view key, std::int64_t value) override { record_.attributes.push_back({key, value}); }
  void fail(std::string_view error_type, std::string_view message) override {
    record_.failed = true;
    record_.message = utf8::prefix(message, kMostBytes);
    set("error.type", error_type);
  }

 private:
  OtlpTracer& tracer_;
  SpanRecord record_;
  std::string traceparent_;
};

// The beginning of a trace that nobody records: what follows is told so.
class OtlpTracer::PassedOn final : public Span {
 public:
  explicit PassedOn(const TraceContext& context) : traceparent_(context.traceparent()) {}
  [[nodiscard]] std::string_view traceparent() const override { return traceparent_; }
  [[nodiscard]] bool recording() const override { return false; }
  void set(std::string_view, std::string_view) override {}
  void set(std::string_view, std::int64_t) override {}
  void fail(std::string_view, std::string_view) override {}

 private:
  std::string traceparent_;
};

OtlpTracer::OtlpTracer(SpanQueue& queue, OtlpTracerOptions options)
    : queue_(queue), options_(std::move(options)), sampler_(options_.sampler) {}

std::uint64_t OtlpTracer::fresh_id() {
  for (;;) {
    if (const std::uint64_t id = options_.random(); id != 0) return id;  // zero is no id
  }
}

std::unique_ptr<Span> OtlpTracer::start(const SpanStart& wanted) {
  const auto parent = parse_traceparent(wanted.parent);
  std::vector<TraceContext> links = read_links(wanted.links);
  TraceContext own = parent.value_or(TraceContext{});
  if (!parent) own.trace_high = fresh_id();
  if (!parent) own.trace_low = fresh_id();
  std::optional<bool> decided;
  if (parent) decided = parent->is_sampled();
  if (!parent && !links.empty()) decided = any_is_sampled(links);
  const bool sampled = sampler_.samples(decided, own.trace_low);
  if (!sampled && decided) return nullptr;
  own.span_id = fresh_id();
  own.flags = sampled ? TraceContext::kSampled : std::uint8_t{0};
  if (!sampled) return std::make_unique<PassedOn>(own);

  SpanRecord record;
  record.context = own;
  if (parent) record.parent_span_id = parent->span_id;
  record.kind = wanted.kind;
  record.name = name_of(wanted);
  record.started = wanted.started_at ? *wanted.started_at : options_.clock();
  // Nobody recorded the others.
  std::erase_if(links, [](const TraceContext& link) { return !link.is_sampled(); });
  record.dropped_links = links.size() > kMostLinks ? links.size() - kMostLinks : 0;
  links.resize(links.size() - record.dropped_links);
  record.links = std::move(links);
  return std::make_unique<Recorded>(*this, std::move(record));
}

}  // namespace sluice::otlp
