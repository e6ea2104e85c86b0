// The sink seam: where deliveries go. A batch in, a verdict per event out: a sink is a batch handler.
#pragma once

#include <span>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/handler.hpp>

namespace sluice::sink {

class Sink {
 public:
  virtual ~Sink() = default;
  /// Delivers each event; the verdicts are in the order of the events. Must be safe to call from several
  /// threads at once.
  virtual std::vector<Verdict> deliver(std::span<const EventEnvelope> events, const Delivery& delivery) = 0;
};

}  // namespace sluice::sink
