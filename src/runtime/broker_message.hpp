// An event as a broker's message: the envelope as its body, and what the outbox knows besides in headers.
#pragma once

#include <cstdint>
#include <string>

#include <sluice/result.hpp>
#include "broker/broker.hpp"
#include "store/claimed_event.hpp"

namespace sluice::runtime {

struct MessageTerms {
  const broker::Broker& broker;
  int shards = 16;  ///< of events with an ordering key; the same in every process
};

/// The id is the event's and the number of its replay: a replayed event is a new message, one that is published again
/// because an answer was lost is not.
broker::OutgoingMessage to_message(const store::ClaimedEvent& event, std::int64_t replay, const MessageTerms& terms);

struct RelayedMessage {
  store::ClaimedEvent event;  ///< without a claim; progress and attempts as they were when it was relayed
  std::int64_t replay = 0;
};

/// The error says what a message of somebody else lacks.
Result<RelayedMessage> from_message(const broker::IncomingMessage& message);

}  // namespace sluice::runtime
