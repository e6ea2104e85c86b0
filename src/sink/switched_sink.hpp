// What every sink has in common: it can be switched off and on, it keeps to a rate, and it keeps account of its
// deliveries. An adapter derives from it and carries events.
//
// Thread-safety: everything may be called from any thread.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "sink/delivery_tally.hpp"
#include "sink/pace.hpp"
#include "sink/sink.hpp"
#include "sink/wall_clock.hpp"

namespace sluice::sink {

/// How long events wait before they ask a paused or disabled sink again.
inline constexpr Duration kPausedWait = std::chrono::seconds{30};

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
  void pause() final;
  void resume() final;
  ProbeReport probe(const EventEnvelope& event) override;

 protected:
  explicit SwitchedSink(SinkIdentity identity, std::function<Timestamp()> clock = wall_clock);

  /// The delivery itself, as Sink::deliver.
  virtual std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) = 0;
  /// Whatever an adapter knows beside the account: the state of a circuit.
  virtual void describe(SinkStatus&) const {}
  /// An operator wants deliveries again: forget why there were none.
  virtual void resumed() {}

  /// The receiver is gone for good: nothing is sent until an operator resumes.
  void disable();
  [[nodiscard]] bool is_disabled() const { return switch_state() == SinkState::disabled; }
  void record_latency(Duration took) { tally_.record_latency(took); }
  [[nodiscard]] Timestamp now() const { return clock_(); }

 private:
  [[nodiscard]] SinkState switch_state() const;

  SinkIdentity identity_;
  std::function<Timestamp()> clock_;
  mutable std::mutex mutex_;
  SinkState switch_ = SinkState::active;  // active, paused or disabled
  DeliveryTally tally_;
  Pace pace_;
};

}  // namespace sluice::sink
