// An event to publish: what somebody sends is read, completed, checked and stored.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/uuid.hpp>
#include "core/cloudevents.hpp"
#include "core/json.hpp"
#include "host/entropy.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

// Publish one event: fill what the publisher may leave out, check it, store it.

struct PublishRequest {
  std::string event_type;
  int event_version = 1;
  std::string source;
  std::optional<std::string> target;
  std::string payload = "{}";
  /// Of this payload, by whoever has read it with the text around it; none: it is read when it is checked.
  std::optional<json::Measure> payload_measure;
  std::optional<Uuid> id;                ///< default: a new version 7 id
  std::optional<Timestamp> occurred_at;  ///< default: the clock
  std::optional<Uuid> workspace_id;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> trace_context;
  std::optional<std::string> ordering_key;
  std::string content_class = "default";
  std::string processing_class;          ///< composes the channel outbox_gen_<N>_<class>
  std::optional<Generation> generation;  ///< default: the store's newest live one, else 1
  std::optional<Timestamp> not_before;
  std::optional<Duration> delay;
};

struct Published {
  store::NewEvent event;
  store::PublishOutcome outcome = store::PublishOutcome::published;
};

/// Not thread-safe: ids of one publisher never go backwards.
class EventPublishing {
 public:
  EventPublishing(host::Entropy entropy, EnvelopeLimits limits) : entropy_(std::move(entropy)), limits_(limits) {}

  /// The event as it would be stored; the error names the field. Writes nothing.
  Result<store::NewEvent> prepare(PublishRequest request, Generation generation);

 private:
  host::Entropy entropy_;
  EnvelopeLimits limits_;
  UuidV7Sequence ids_;
};

/// Refuses an event whose generation does not exist, or is retired unless the event is there already (its first answer
/// was lost). What it learns it believes for a few seconds.
///
/// Thread-safety: any number of threads.
class GenerationCheck {
 public:
  /// The store outlives it.
  explicit GenerationCheck(store::Administering& store) : store_(store) {}
  Result<void> operator()(const store::NewEvent& event);

 private:
  Result<void> look(const store::NewEvent& event);

  store::Administering& store_;
  std::mutex mutex_;
  std::map<Generation, std::chrono::steady_clock::time_point> known_;
};

/// An error that is in doubt carries the id in its hint: publishing that id again is safe.
Result<Published> publish_event(store::Publishing& store, const store::NewEvent& event);

/// What the store holds under this id, which may be other than what was published again under it.
Result<store::NewEvent> stored_event(store::Administering& store, const Uuid& id);

// What others send as something to publish: our JSON, or a CloudEvent. docs/reference/cloudevents.md is the contract of
// the second.

/// `{"type":"demo.hello","source":"demo","payload":{…}}`. `event_type` and `type` are the same; `delay` is a text like
/// `5m` or a number of seconds; null is as good as left out. A name that is not known is an error, because a misspelt
/// member would be lost without a word. The payload is kept as it was written.
Result<PublishRequest> publish_request(std::string_view json);
/// The same of an event that was read with the text around it.
Result<PublishRequest> publish_request(json::Part outline, std::string_view field = "event");

/// The error names the attribute.
Result<PublishRequest> publish_request(const cloudevents::CloudEvent& event);

/// The use case names fields; the sender of a CloudEvent gave attributes.
Error in_terms_of_attributes(Error error);

// Ids for events that come with a name of their own from outside: the same name is always the same id, so that
// storing it twice is storing it once.

/// Who sent it, and what the sender calls it.
struct ForeignName {
  std::string_view sender;
  std::string_view id;
};

/// A version 8 uuid from the SHA-256 of `kind` and the name.
Uuid derived_id(std::string_view kind, const ForeignName& name);

/// `sender id`, for people and for deduplication; empty when it is too long or not printable enough for an
/// idempotency key. No two names share one, as long as the sender contains no space.
std::string derived_key(const ForeignName& name);

}  // namespace sluice::ops
