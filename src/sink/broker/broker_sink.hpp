// The sinks nats and redis: every event is one message on a broker, with the event's id, and is delivered when the
// broker has answered that it has it.
//
// A message that the broker has already is delivered. One that is too large, or that has no possible address, fails its
// event at once; everything else is tried again. After failures in a row the circuit opens and events wait without an
// attempt being counted.
//
// A message carries a `traceparent`: that of its own span where traces are recorded, else that of the event.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <sluice/tracer.hpp>
#include "broker/broker.hpp"
#include "core/address_template.hpp"
#include "host/entropy.hpp"
#include "sink/circuit_breaker.hpp"
#include "sink/sink.hpp"
#include "sink/switched_sink.hpp"

namespace sluice::sink {

enum class MessageFormat {
  cloudevents_binary,      ///< attributes in `ce-` headers, the payload as it is
  cloudevents_structured,  ///< one JSON object with the attributes and the data
  envelope,                ///< Sluice's own JSON
};

struct BrokerSinkOptions {
  std::string name;
  std::string kind;    ///< nats, redis
  std::string target;  ///< for people, without secrets
  std::unique_ptr<broker::Publisher> broker;
  AddressTemplate address;
  MessageFormat format = MessageFormat::cloudevents_binary;
  Duration timeout = std::chrono::seconds{15};  ///< for a batch and its answers
  BreakerRules breaker;
  double rate = 0;                                      ///< per second; 0: no limit
  std::function<Timestamp()> clock = host::wall_clock;  ///< the store's time
  Tracer* tracer = nullptr;                             ///< outlives the sink; none: nothing is traced
};

std::unique_ptr<Sink> open_broker_sink(BrokerSinkOptions options);

/// What goes to the broker. The id is that of the event and the sink: two sinks may share a stream, and each of them
/// delivers. It is the same in every attempt.
broker::OutgoingMessage message_of(const EventEnvelope& event, std::int64_t generation,
                                   const BrokerSinkOptions& options);

/// What an answer means for the event.
Verdict verdict_of(const Result<broker::Taken>& answer);

}  // namespace sluice::sink
