// What every sink has in common: it follows the state that all processes share, it keeps to a rate, and it keeps
// account of its deliveries. An adapter derives from it and carries events.
//
// Thread-safety: everything may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include "sink/pace.hpp"
#include "sink/sink.hpp"

namespace sluice::sink {

/// How a sink's deliveries went, since the process began and lately.
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
  std::array<Duration, kRemembered> latencies_{};  // the latest, the oldest overwritten first
  std::size_t recorded_ = 0;
};

struct SinkIdentity {
  std::string name;
  std::string kind;
  std::string target;  ///< for people, without secrets
  double rate = 0;     ///< deliveries per second; 0: no limit
};

class SwitchedSink : public Sink {
 public:
  std::vector<Verdict> deliver(std::span<const EventEnvelope> events, const Delivery& delivery) final;
  [[nodiscard]] SinkStatus status() const final;
  void follow(const SharedState& shared) final;
  [[nodiscard]] bool has_news() const final;
  std::vector<SinkNews> take_news() final;
  ProbeReport probe(const EventEnvelope& event) override;

 protected:
  /// `clock` is the store's time.
  SwitchedSink(SinkIdentity identity, std::function<Timestamp()> clock);

  /// The delivery itself, as Sink::deliver.
  virtual std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) = 0;
  /// Whatever an adapter knows beside the account: the state of a circuit.
  virtual void describe(SinkStatus&) const {}
  /// What the processes know of the circuit; none: it is closed.
  virtual void follow_circuit(std::optional<Timestamp>) {}

  /// The receiver is gone for good: nothing is sent until an operator resumes.
  void disable(std::string reason);
  void tell(SinkNews news);
  [[nodiscard]] bool is_disabled() const { return switch_state() == SinkSwitch::disabled; }
  void record_latency(Duration took) { tally_.record_latency(took); }
  [[nodiscard]] Timestamp now() const { return clock_(); }

 private:
  [[nodiscard]] SinkSwitch switch_state() const;

  SinkIdentity identity_;
  std::function<Timestamp()> clock_;
  mutable std::mutex mutex_;
  SinkSwitch switch_ = SinkSwitch::active;
  std::vector<SinkNews> news_;
  DeliveryTally tally_;
  Pace pace_;
};

/// What a receiver said, as it goes into an error message: the first 512 bytes on one line that is safe to show,
/// without white space at the end.
std::string excerpt(std::string_view said);

}  // namespace sluice::sink
