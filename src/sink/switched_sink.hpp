// What every sink has in common: it follows the state that all processes share, it keeps to a rate, and it keeps
// account of its deliveries. An adapter derives from it and carries events.
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

namespace sluice::sink {

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

}  // namespace sluice::sink
