// Wait until an event has come to rest.
#pragma once

#include <functional>

#include "store/administer.hpp"

namespace sluice::ops {

/// How to wait; injected, so that tests do not.
struct Pacing {
  std::function<bool(Duration)> pause;  ///< false: stop waiting, the user interrupted
  std::function<Duration()> elapsed;    ///< time since the wait began, by a clock that never steps
};

struct Awaited {
  enum class Ending { delivered, failed, timed_out, interrupted };
  Ending ending = Ending::delivered;
  store::EventRecord event;  ///< as last seen
};

/// Looks until the event is delivered or failed, or `timeout` has passed.
Result<Awaited> await_event(store::Administering& store, const Uuid& id, Duration timeout, const Pacing& pacing);

}  // namespace sluice::ops
