// An event in the hands of a worker, and what proves that it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/settle.hpp"

namespace sluice::store {

/// What proves the right to settle: the fencing token and where the row was last seen.
struct ClaimRef {
  Uuid event_id;
  std::int64_t claim_seq = 0;
  std::uint64_t locator = 0;  ///< a hint of the store's own; 0 is always allowed
  std::int64_t batch = 0;     ///< the store's own: which claim call this came from; never 0 of a claim
  Timestamp occurred_at{};    ///< with the locator: tells the month where events are partitioned
};

/// A store hands out no larger payload: with its copies it would take the memory of a whole worker. No configuration
/// allows more in.
inline constexpr std::int64_t kReadablePayloadBytes = std::int64_t{64} * 1024 * 1024;
inline std::string payload_unreadable(std::optional<std::int64_t> bytes) {
  return "payload has " + (bytes ? std::to_string(*bytes) + " bytes, more than the " : "more than the ") +
         std::to_string(kReadablePayloadBytes) + " bytes that can be read";
}

struct ClaimedEvent {
  EventEnvelope envelope;
  ClaimRef claim;
  Generation generation = kFirstGeneration;
  std::string channel;
  std::optional<std::string> ordering_key;
  int attempts = 0;      ///< failed attempts since the last replay, before this one
  Timestamp claimed_at;  ///< the store's now at the claim
  /// Handlers that have not handled the event yet and are known to have been tried or skipped since
  /// the last replay; empty for an event that is new or has one handler.
  std::vector<HandlerProgress> progress;
  /// Why the event could not be read whole; its payload may be `null`. It must not run: decide_work fails it. One such
  /// row stops neither the claim nor the list that it is in.
  std::optional<std::string> unreadable{};
  /// It could be claimed as soon as it was published: it was not scheduled, retried or replayed and did not wait for
  /// its ordering key.
  bool fresh = false;
  /// Other handlers are given it elsewhere, as consumers of a broker are: whoever handles it leaves a dedup row.
  bool shared = false;
  std::int64_t replay = 0;                    ///< how often it was replayed; the dispatcher looks it up
  std::optional<Timestamp> replayed_at = {};  ///< the latest time
};

}  // namespace sluice::store
