// How a sink's deliveries went, since the process began and lately.
//
// Thread-safety: everything may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "sink/sink.hpp"

namespace sluice::sink {

class DeliveryTally {
 public:
  /// Counts deliveries as in flight while it lives.
  class UnderWay {
   public:
    UnderWay(DeliveryTally& tally, std::size_t events);
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

   private:
    DeliveryTally& tally_;
    std::int64_t events_;
  };

  /// Deferred ones count neither way.
  void record(std::span<const Verdict> verdicts, Timestamp now);
  void record_latency(Duration took);

  /// Fills in what it knows.
  void describe(SinkStatus& status) const;

 private:
  static constexpr std::size_t kRemembered = 512;

  mutable std::mutex mutex_;
  std::int64_t in_flight_ = 0;
  std::int64_t delivered_ = 0;
  std::int64_t failed_ = 0;
  std::string last_error_;
  std::optional<Timestamp> last_failed_at_;
  std::array<Duration, kRemembered> latencies_{};  // a ring
  std::size_t recorded_ = 0;
};

}  // namespace sluice::sink
