// The store seam, publishing: new events in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "core/generation.hpp"

namespace sluice::store {

struct NewEvent {
  EventEnvelope envelope;
  Generation generation = kFirstGeneration;
  std::string channel = std::string{kDefaultChannel};
  std::string content_class = "default";
  std::optional<std::string> ordering_key;
  std::optional<Timestamp> not_before;  ///< delayed until this time
  std::optional<Duration> delay;        ///< delayed by this long from the store's now; beats not_before
};

enum class PublishOutcome { published, duplicate };

class Publishing {
 public:
  virtual ~Publishing() = default;

  /// All or nothing, in one transaction. An id that is already stored changes nothing and is
  /// reported as `duplicate`, so repeating a call whose answer was lost is safe. Outcomes are in
  /// the order of the events.
  virtual Result<std::vector<PublishOutcome>> publish(std::span<const NewEvent> events) = 0;

  /// Whether anybody can ever claim events of this generation: it was allocated, or it is the default one, or a worker
  /// has subscribed in it. publish() does not ask; whoever takes a generation from a user does.
  virtual Result<bool> generation_exists(Generation generation) = 0;
};

}  // namespace sluice::store
