// One request on its way, and what came of it.
#pragma once

#include <optional>

#include <sluice/time.hpp>
#include "sink/http/answer.hpp"
#include "sink/http/request.hpp"

namespace sluice::sink {

struct Exchange {
  const EventEnvelope* event = nullptr;
  DeliveryRequest request;
  bool trial = false;  ///< goes whatever the state of the circuit is

  // Once it is over:
  bool begun = false;            ///< false: nothing was sent
  std::optional<Duration> wait;  ///< why it did not begin: not before this has passed; none: it was stopped before
  Answer answer;
  Duration took{};
};

}  // namespace sluice::sink
