// EventPublisher: writes events, in a transaction of its own or in yours.
//
//   auto publisher = sluice::EventPublisher::open({.store = "postgres://app@db/app"});
//   publisher->publish(envelope);               // its own transaction
//   publisher->publish(envelope, connection);   // yours: committed or rolled back with your own writes
//
// Publishing an id that is already there changes nothing, so a call whose answer was lost (an error with
// Retry::in_doubt) may be repeated.
//
// With a tracer each call is a PRODUCER span, and an event without a trace context is stored with that of the span. One
// that has a trace context keeps it.
//
// Thread-safety: publish from any thread; a connection of yours only from the thread that uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/tracer.hpp>

struct pg_conn;
struct sqlite3;

namespace sluice {

struct PublisherOptions {
  std::string store{};                       ///< `postgres://…`, `sqlite:PATH` or a path
  std::optional<std::int64_t> generation{};  ///< stamped on each event; default: the newest live one at open, else 1
  int connections = 4;                       ///< of its own, at most
  std::string service = "sluice";            ///< names this program in logs
  std::string environment{};
  /// One JSON log line each; from any thread. Default: none are written.
  std::function<void(std::string_view line)> log{};
  std::shared_ptr<Tracer> tracer{};  ///< default: nothing is traced

  /// Store and generation from SLUICE_STORE or DATABASE_URL, and SLUICE_GENERATION or SPECTRAL_GENERATION.
  static Result<PublisherOptions> from_environment();
};

/// How an event travels, beside what it says.
struct Routing {
  std::string processing_class{};             ///< channel `outbox_gen_<N>_<class>` instead of `outbox_gen_<N>`
  std::string content_class = "default";      ///< kept with the event
  std::optional<std::string> ordering_key{};  ///< strict order among events of one key
  std::optional<Duration> delay{};            ///< not before this long from now
  std::optional<Timestamp> not_before{};      ///< not before then
};

class EventPublisher {
 public:
  static Result<EventPublisher> open(PublisherOptions options);
  EventPublisher(EventPublisher&&) noexcept;
  EventPublisher& operator=(EventPublisher&&) noexcept;
  ~EventPublisher();

  /// A draft with a fresh id and the present time, to be filled in and made into an envelope.
  [[nodiscard]] EnvelopeDraft draft() const;

  // In a transaction of its own; all or nothing.
  Result<void> publish(const EventEnvelope& event, const Routing& routing = {});
  Result<void> publish(std::span<const EventEnvelope> events, const Routing& routing = {});

  // In the caller's own open transaction. Nothing is committed here.
  Result<void> publish(const EventEnvelope& event, pg_conn* transaction, const Routing& routing = {});
  Result<void> publish(std::span<const EventEnvelope> events, pg_conn* transaction, const Routing& routing = {});
  Result<void> publish(const EventEnvelope& event, sqlite3* transaction, const Routing& routing = {});
  Result<void> publish(std::span<const EventEnvelope> events, sqlite3* transaction, const Routing& routing = {});

 private:
  class Impl;
  explicit EventPublisher(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
