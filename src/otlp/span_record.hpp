// A span that is over, and the queue in which such spans wait to be sent.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/tracer.hpp>
#include "core/trace_context.hpp"

namespace sluice::otlp {

struct SpanRecord {
  struct Attribute {
    std::string_view key;  ///< a literal
    std::variant<std::string, std::int64_t> value;
  };

  TraceContext context;
  std::uint64_t parent_span_id = 0;  ///< 0: the first of its trace
  SpanKind kind = SpanKind::internal;
  std::string name;
  Timestamp started{};
  Timestamp ended{};
  std::vector<Attribute> attributes;
  std::vector<TraceContext> links;
  std::size_t dropped_links = 0;
  bool failed = false;
  std::string message;  ///< of a failure
};

/// Never makes anybody wait who has a span to give: what does not fit is dropped and counted.
///
/// Thread-safety: any number of threads add, one takes.
class SpanQueue {
 public:
  /// `limit` spans may wait; whoever takes is woken when `batch` of them do.
  SpanQueue(std::size_t limit, std::size_t batch) : limit_(limit), batch_(batch) {}

  void add(SpanRecord span);
  /// The oldest, a batch at most.
  std::vector<SpanRecord> take();
  /// Waits until a batch waits, `at_most` has passed or a stop is asked for.
  void wait(const std::stop_token& stop, Duration at_most);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool has_batch() const { return size() >= batch_; }
  [[nodiscard]] std::int64_t dropped() const;

 private:
  const std::size_t limit_;
  const std::size_t batch_;
  mutable std::mutex mutex_;
  std::condition_variable_any filled_;
  std::vector<SpanRecord> spans_;  // the first `taken_` of them are gone
  std::size_t taken_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace sluice::otlp
