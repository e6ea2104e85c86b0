// A tracer as an application's SDK would be: remembers its spans, in the order in which they ended.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sluice/tracer.hpp>
#include "core/trace_context.hpp"

namespace sluice::test {

struct RecordedSpan {
  SpanKind kind = SpanKind::internal;
  std::string name;
  std::string parent;
  std::string traceparent;
  std::vector<std::string> links;
  std::map<std::string, std::string> attributes;
  std::string error_type;
  std::string message;
};

class RecordingTracer final : public Tracer {
 public:
  std::unique_ptr<Span> start(const SpanStart& wanted) override {
    RecordedSpan span;
    span.kind = wanted.kind;
    span.name = wanted.operation;
    if (!wanted.destination.empty()) span.name.append(" ").append(wanted.destination);
    span.parent = wanted.parent.empty() ? current() : std::string{wanted.parent};
    span.links.assign(wanted.links.begin(), wanted.links.end());
    const std::lock_guard lock{mutex_};
    TraceContext context =
        parse_traceparent(span.parent).value_or(TraceContext{1, ++drawn_, 0, TraceContext::kSampled});
    context.span_id = ++drawn_;
    span.traceparent = context.traceparent();
    return std::make_unique<Recording>(*this, std::move(span));
  }

  [[nodiscard]] std::vector<RecordedSpan> spans() const {
    const std::lock_guard lock{mutex_};
    return spans_;
  }
  /// Those whose name begins so.
  [[nodiscard]] std::vector<RecordedSpan> spans(std::string_view beginning) const {
    std::vector<RecordedSpan> found;
    for (RecordedSpan& span : spans()) {
      if (span.name.starts_with(beginning)) found.push_back(std::move(span));
    }
    return found;
  }

  /// The span that is current on this thread; empty: none.
  static std::string& current() {
    thread_local std::string traceparent;
    return traceparent;
  }

 private:
  class Recording final : public Span {
   public:
    Recording(RecordingTracer& tracer, RecordedSpan span) : tracer_(tracer), span_(std::move(span)) {}
    ~Recording() override {
      const std::lock_guard lock{tracer_.mutex_};
      tracer_.spans_.push_back(std::move(span_));
    }
    [[nodiscard]] std::string_view traceparent() const override { return span_.traceparent; }
    void set(std::string_view key, std::string_view value) override { span_.attributes[std::string{key}] = value; }
    void set(std::string_view key, std::int64_t value) override {
      span_.attributes[std::string{key}] = std::to_string(value);
    }
    void fail(std::string_view error_type, std::string_view message) override {
      span_.error_type = error_type;
      span_.message = message;
    }
    std::shared_ptr<void> make_current() override {
      return {new std::string{std::exchange(current(), span_.traceparent)}, [](void* before) {
                const std::unique_ptr<std::string> owned{static_cast<std::string*>(before)};
                current() = *owned;
              }};
    }

   private:
    RecordingTracer& tracer_;
    RecordedSpan span_;
  };

  mutable std::mutex mutex_;
  std::uint64_t drawn_ = 0;
  std::vector<RecordedSpan> spans_;
};

}  // namespace sluice::test
