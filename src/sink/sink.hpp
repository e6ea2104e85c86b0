// The sink seam: where deliveries go. A batch in, an outcome per event out.
#pragma once

#include <span>
#include <vector>

#include "core/settle.hpp"
#include "store/store.hpp"

namespace sluice::sink {

class Sink {
 public:
  virtual ~Sink() = default;
  /// Delivers each event; the outcomes are in the order of the events. Never throws. Must be safe
  /// to call from several threads at once.
  virtual std::vector<Outcome> deliver(std::span<const store::ClaimedEvent> events) = 0;
};

}  // namespace sluice::sink
