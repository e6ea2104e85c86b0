// SpanExport: takes spans out of their queue and sends them, batch by batch. A batch that the collector has no room for
// is sent again a few times; one that it refuses is dropped.
//
// Thread-safety: counts() from any thread; the rest from one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <sluice/time.hpp>
#include "host/entropy.hpp"
#include "http_client/answer.hpp"
#include "otlp/otlp_json.hpp"
#include "otlp/span_record.hpp"
#include "telemetry/exporting.hpp"
#include "telemetry/log.hpp"

namespace sluice::otlp {

/// What an answer means for what was sent.
enum class Fate { taken, again, refused };
/// `again` is 429, 502, 503, 504 and no answer at all, as the protocol says.
Fate fate_of(const http_client::Answer& answer);

/// One POST of a body.
using Send = std::function<http_client::Answer(const std::string& body, const std::stop_token& stop)>;

struct SpanExportOptions {
  Send send;
  Sender sender;
  std::string target;                             ///< how the log names the collector
  telemetry::Logger logger;                       ///< gets a line when sending begins to fail, and when it works again
  Duration delay = std::chrono::seconds{1};       ///< a span waits no longer for its batch to be full
  int tries = 5;                                  ///< of a batch
  Duration first_wait = std::chrono::seconds{1};  ///< doubles with each try
  Duration longest_wait = std::chrono::seconds{30};
  std::function<Timestamp()> clock = host::wall_clock;  ///< for a Retry-After that is a date
};

class SpanExport {
 public:
  /// The queue outlives the export.
  SpanExport(SpanQueue& queue, SpanExportOptions options);

  /// Sends what waits, a batch at most; how long to rest then.
  Duration step(const std::stop_token& stop);

  /// Nothing waits, neither in the queue nor to be sent again.
  [[nodiscard]] bool empty() const;
  /// The last thing that was sent was not taken.
  [[nodiscard]] bool in_trouble() const { return in_trouble_; }
  /// Drops what waits to be sent again.
  void give_up();

  [[nodiscard]] telemetry::SpanCounts counts() const;

 private:
  struct Batch {
    std::string body;
    std::int64_t spans = 0;
    int tries = 0;
  };
  [[nodiscard]] bool take();
  Duration wait_after(const http_client::Answer& answer) const;
  void drop(const std::string& why);
  void delivered(const http_client::Answer& answer);
  void note(const std::string& trouble);

  SpanQueue& queue_;
  SpanExportOptions options_;
  std::optional<Batch> batch_;
  bool in_trouble_ = false;
  std::atomic<std::int64_t> exported_ = 0;
  std::atomic<std::int64_t> dropped_ = 0;
};

/// In one line: `connection_refused`, `503`, `400: unknown field`.
std::string described(const http_client::Answer& answer);

}  // namespace sluice::otlp
