// What waits for the collector: spans that are over and lines of the log, and the queue in which they wait.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/tracer.hpp>
#include "core/trace_context.hpp"
#include "telemetry/log.hpp"

namespace sluice::otlp {

/// A text is cut after so many bytes.
inline constexpr std::size_t kMostBytes = 2048;

/// Never makes anybody wait who has a record to give: what does not fit is dropped and counted.
///
/// Thread-safety: any number of threads add, one takes.
template <class Record>
class ExportQueue {
 public:
  /// `limit` records may wait; whoever takes is woken when `batch` of them do.
  ExportQueue(std::size_t limit, std::size_t batch) : limit_(limit), batch_(batch) {}

  void add(Record record) {
    {
      const std::lock_guard lock{mutex_};
      if (records_.size() - taken_ >= limit_) {
        ++dropped_;
        return;
      }
      records_.push_back(std::move(record));
      if (records_.size() - taken_ != batch_) return;
    }
    filled_.notify_one();
  }

  /// The oldest, a batch at most.
  std::vector<Record> take() {
    const std::lock_guard lock{mutex_};
    const auto first = records_.begin() + static_cast<std::ptrdiff_t>(taken_);
    const auto count = std::min(batch_, records_.size() - taken_);
    std::vector<Record> batch{std::make_move_iterator(first),
                              std::make_move_iterator(first + static_cast<std::ptrdiff_t>(count))};
    taken_ += count;
    // Moves what is left only when that is no more than what is gone.
    if (2 * taken_ >= records_.size()) {
      records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    return batch;
  }

  /// Waits until a batch waits, `at_most` has passed or a stop is asked for.
  void wait(const std::stop_token& stop, Duration at_most) {
    std::unique_lock lock{mutex_};
    filled_.wait_for(lock, stop, at_most, [this] { return records_.size() - taken_ >= batch_; });
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return records_.size() - taken_;
  }
  [[nodiscard]] bool has_batch() const { return size() >= batch_; }
  [[nodiscard]] std::int64_t dropped() const {
    const std::lock_guard lock{mutex_};
    return dropped_;
  }

 private:
  const std::size_t limit_;
  const std::size_t batch_;
  mutable std::mutex mutex_;
  std::condition_variable_any filled_;
  std::vector<Record> records_;  // the first `taken_` of them are gone
  std::size_t taken_ = 0;
  std::int64_t dropped_ = 0;
};

// A span that is over.

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

using SpanQueue = ExportQueue<SpanRecord>;

// A line of the log on its way to a collector.

struct LogEntry {
  Timestamp at{};
  telemetry::Level level = telemetry::Level::info;
  std::string message;
  std::vector<std::pair<std::string, telemetry::LogField::Value>> fields;  ///< none is null
  std::string trace_id;                                                    ///< empty: none
  std::string span_id;                                                     ///< empty: none
};

/// A copy of the record, its texts cut after kMostBytes, what is null left out.
LogEntry entry_of(const telemetry::LogRecord& record);

using LogQueue = ExportQueue<LogEntry>;

}  // namespace sluice::otlp
