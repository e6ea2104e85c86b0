// POST /v1/events: from a body to events, and from the outcome of storing them to the answer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <sluice/tracer.hpp>
#include "host/entropy.hpp"
#include "http/message.hpp"
#include "http/router.hpp"
#include "ops/publish_event.hpp"
#include "ops/publish_queue.hpp"
#include "telemetry/log.hpp"

namespace sluice::http {

struct PublishBody {
  std::vector<ops::PublishRequest> events;
  bool many = false;         ///< a list, also of one: it is answered with a list
  bool cloudevents = false;  ///< errors name attributes, not fields
};

/// Empty: the media type is none of those that are taken.
std::optional<Result<PublishBody>> read_publish(const Request& request);

/// `payload` of event 3 is `events[3].payload` where there are many, and in the sender's terms.
Error at_event(Error error, std::size_t index, const PublishBody& body);

// PublishEndpoint: what the ways in over HTTP share: from a request to publish to an event, and into the queue.
//
// Thread-safety: any number of threads.

struct PublishEndpointOptions {
  host::Entropy entropy;
  EnvelopeLimits limits;
  Generation generation = kFirstGeneration;  ///< of events that name none
  telemetry::Logger logger;                  ///< gets one line for each event that was stored
  /// Told of each event: published, duplicate, refused or error. May be empty.
  std::function<void(std::string_view outcome, std::size_t events)> on_outcome{};
  /// Looks up what was there before, and may block: off the queue's thread. None: on it.
  std::function<bool(std::function<void()>)> elsewhere{};
  Tracer* tracer = nullptr;  ///< none: nothing is traced
};

class PublishEndpoint {
 public:
  /// The references outlive the endpoint.
  PublishEndpoint(ops::PublishQueue& queue, store::Administering& store, PublishEndpointOptions options);

  /// The event as it will be stored; the error names the field.
  Result<store::NewEvent> prepare(ops::PublishRequest request);

  /// Makes the answer to events that are stored, as the store holds them. In the order of the events.
  using Stored = std::function<Response(std::span<const store::NewEvent>, std::span<const store::PublishOutcome>)>;
  /// Answers once the events are stored, all or none of them; an error is answered as a problem. The span ends then.
  void store(std::vector<store::NewEvent> events, Stored stored, Respond respond, std::unique_ptr<Span> span);

  [[nodiscard]] Tracer* tracer() const { return options_.tracer; }
  [[nodiscard]] const EnvelopeLimits& limits() const { return options_.limits; }
  [[nodiscard]] Timestamp now() const { return options_.entropy.clock(); }

 private:
  /// Replaces duplicates by what is stored under their ids.
  Result<void> show_stored(std::vector<store::NewEvent>& events, std::span<const store::PublishOutcome> outcomes);
  void answer(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes,
              const Stored& stored, Respond respond);
  void count(std::span<const store::NewEvent> events, const ops::PublishQueue::Outcomes& outcomes) const;
  void log(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes,
           std::string_view span) const;

  ops::PublishQueue& queue_;
  store::Administering& store_;
  PublishEndpointOptions options_;
  std::mutex mutex_;
  UuidV7Sequence ids_;
};

// POST /v1/events: one event or many, as envelope JSON or as CloudEvents in any of their three forms.

/// The most events in one request.
inline constexpr std::size_t kMostEvents = 1000;

/// The endpoint outlives the server.
std::vector<Route> publish_routes(PublishEndpoint& endpoint);

}  // namespace sluice::http
