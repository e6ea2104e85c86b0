// Who is there: generations, the subscriptions in them, workers, and the sinks that daemons deliver to.
//
// "Delivered" means that every subscribed handler has handled the event, so the subscriptions have to
// be known to every process that settles one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/time.hpp>
#include "core/generation.hpp"
#include "core/sink_switch.hpp"
#include "core/subscription.hpp"
#include "store/relay.hpp"

namespace sluice::store {

/// The version of the registry of subscriptions that a decision was based on.
using RegistryVersion = std::int64_t;

struct SubscriptionRecord {
  Subscription subscription;
  Generation generation = kFirstGeneration;
  Timestamp registered_at{};
  std::string declared_by{};  ///< whose it is to withdraw; empty: not known
  Timestamp served_at{};      ///< when a worker last said that it hosts the handler, to the minute
};

/// The subscriptions of one generation, and the version that changes with each of them.
struct Registry {
  RegistryVersion version = 0;
  std::vector<SubscriptionRecord> subscriptions;  ///< by handler name
  RelaySwitch relay{};                            ///< state and broker only; changes the version, too
};

/// A process that claims.
struct WorkerRecord {
  std::string identity;
  Generation generation = kFirstGeneration;
  std::vector<std::string> handlers;
  std::string listener;  ///< listening, reconnecting, polling, deaf; pulling: over HTTP
  Timestamp started_at{};
  Timestamp seen_at{};
};

/// Pending events that nobody subscribes to.
struct UnsubscribedCount {
  Generation generation = kFirstGeneration;
  std::string event_type;
  std::optional<std::string> target;
  std::int64_t count = 0;
  Timestamp oldest{};  ///< occurred_at
};

struct Deployment {
  Generation generation = 0;
  GenerationState state = GenerationState::allocated;
  std::string note;
  std::string changed_by;
  Timestamp allocated_at{};
  std::optional<Timestamp> activated_at;
  std::optional<Timestamp> draining_at;
  std::optional<Timestamp> retired_at;
};

/// A transaction that began before a generation was drained and may still commit events into it.
struct OpenPublisher {
  int pid = 0;      ///< 0: a prepared transaction
  std::string gid;  ///< of a prepared transaction
  std::string user;
  std::string application;
  std::optional<Timestamp> since;  ///< of a prepared transaction: when it was prepared; none: hidden from us
};

/// A sink as a configuration declares it.
struct SinkDeclaration {
  std::string name;
  std::string kind;                   ///< http, nats, redis, exec, log
  std::string target;                 ///< for people, without secrets
  std::vector<std::string> handlers;  ///< names of the subscriptions that it serves
};

/// A sink's state outlives the process that changed it and is one for all of them: a sink that was paused, or whose
/// receiver is gone, stays so after a restart.
struct SinkRecord {
  SinkDeclaration declared;
  SinkSwitch state = SinkSwitch::active;
  Timestamp changed_at{};               ///< the state; of one that never changed: when it was first declared
  std::string changed_by;               ///< empty: it never changed
  std::string reason;                   ///< of the change
  std::optional<Timestamp> opened_at;   ///< since when the circuit is not closed
  std::optional<Timestamp> open_until;  ///< set together with it: from then on one event is tried
  std::string open_reason;              ///< what the receiver did last
  Timestamp declared_at{};              ///< when a daemon last declared it

  /// Events are delivered to it as they come.
  [[nodiscard]] bool takes_deliveries() const { return state == SinkSwitch::active && !open_until; }
};

struct SinkRecords {
  Timestamp now{};
  std::vector<SinkRecord> sinks;  ///< by name
};

}  // namespace sluice::store
