// BatchExport: takes spans or lines of the log out of their queue and sends them, batch by batch. A batch that the
// collector has no room for is sent again a few times; one that it refuses is dropped.
//
// Thread-safety: counts() from any thread; the rest from one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/time.hpp>
#include "host/entropy.hpp"
#include "http_client/http_client.hpp"
#include "otlp/export_queue.hpp"
#include "otlp/otlp_json.hpp"
#include "telemetry/exporting.hpp"
#include "telemetry/log.hpp"

namespace sluice::otlp {

/// What an answer means for what was sent.
enum class Fate { taken, again, refused };
/// `again` is 429, 502, 503, 504 and no answer at all, as the protocol says.
Fate fate_of(const http_client::Answer& answer);

/// One POST of a body.
using Send = std::function<http_client::Answer(const std::string& body, const std::stop_token& stop)>;

/// The body of a request and how many records are in it.
struct Body {
  std::string text;
  std::int64_t records = 0;  ///< 0: there is nothing to send
};

/// What waits to be sent.
class Waiting {
 public:
  Waiting() = default;
  virtual ~Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// The oldest, a batch at most.
  virtual Body take() = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual bool has_batch() const = 0;
  [[nodiscard]] virtual std::int64_t dropped() const = 0;
};

/// A queue, and how its records are written.
template <class Record>
class WaitingRecords final : public Waiting {
 public:
  using Write = std::string (*)(std::span<const Record> records, const Sender& sender);
  /// The queue outlives it.
  WaitingRecords(ExportQueue<Record>& queue, Write write, Sender sender)
      : queue_(queue), write_(write), sender_(std::move(sender)) {}

  Body take() override {
    const std::vector<Record> records = queue_.take();
    if (records.empty()) return {};
    return {write_(records, sender_), static_cast<std::int64_t>(records.size())};
  }
  [[nodiscard]] std::size_t size() const override { return queue_.size(); }
  [[nodiscard]] bool has_batch() const override { return queue_.has_batch(); }
  [[nodiscard]] std::int64_t dropped() const override { return queue_.dropped(); }

 private:
  ExportQueue<Record>& queue_;
  Write write_;
  Sender sender_;
};

struct BatchExportOptions {
  Send send;
  std::string_view what = "traces";               ///< how the log names what is sent; a literal
  std::string target;                             ///< how the log names the collector
  telemetry::Logger logger;                       ///< gets a line when sending begins to fail, and when it works again
  Duration delay = std::chrono::seconds{1};       ///< a record waits no longer for its batch to be full
  int tries = 5;                                  ///< of a batch
  Duration first_wait = std::chrono::seconds{1};  ///< doubles with each try
  Duration longest_wait = std::chrono::seconds{30};
  std::function<Timestamp()> clock = host::wall_clock;  ///< for a Retry-After that is a date
};

class BatchExport {
 public:
  /// What waits outlives the export.
  BatchExport(Waiting& waiting, BatchExportOptions options);

  /// Sends what waits, a batch at most; how long to rest then.
  Duration step(const std::stop_token& stop);

  /// Nothing waits, neither in the queue nor to be sent again.
  [[nodiscard]] bool empty() const;
  /// The last thing that was sent was not taken.
  [[nodiscard]] bool in_trouble() const { return in_trouble_; }
  /// Drops what waits to be sent again.
  void give_up();

  [[nodiscard]] telemetry::ExportCounts counts() const;

 private:
  struct Batch {
    Body body;
    int tries = 0;
  };
  [[nodiscard]] bool take();
  Duration wait_after(const http_client::Answer& answer) const;
  void drop(const std::string& why);
  void delivered(const http_client::Answer& answer);
  void note(const std::string& trouble);

  Waiting& waiting_;
  BatchExportOptions options_;
  std::optional<Batch> batch_;
  bool in_trouble_ = false;
  std::atomic<std::int64_t> exported_ = 0;
  std::atomic<std::int64_t> dropped_ = 0;
};

/// In one line: `connection_refused`, `503`, `400: unknown field`.
std::string described(const http_client::Answer& answer);

}  // namespace sluice::otlp
