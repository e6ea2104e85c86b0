// The store seam, registering: who handles what, and which workers are there.
//
// "Delivered" means that every subscribed handler has handled the event, so the subscriptions have to
// be known to every process that settles one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "core/generation.hpp"
#include "core/subscription.hpp"
#include "store/administering.hpp"
#include "store/claiming.hpp"

namespace sluice::store {

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

class Registering {
 public:
  virtual ~Registering() = default;

  /// Adds or replaces the subscriptions, by generation and handler name, all or nothing. Repeating them
  /// unchanged changes no version. The last one to declare a subscription is whose it is to withdraw; an empty
  /// `declared_by` takes none over.
  virtual Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions,
                                 const std::string& declared_by) = 0;
  Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions) {
    return subscribe(generation, subscriptions, {});
  }
  /// Nobody waits for this handler any more. not_found when there is no such subscription.
  virtual Result<void> unsubscribe(Generation generation, const std::string& handler_name, const Actor& actor) = 0;
  virtual Result<Registry> registry(Generation generation) = 0;
  /// The subscriptions of all generations, by generation and handler name.
  virtual Result<std::vector<SubscriptionRecord>> subscriptions() = 0;
  /// The most numerous ones first, at most a hundred kinds.
  virtual Result<std::vector<UnsubscribedCount>> unsubscribed() = 0;

  /// "I am here": adds or renews the record of a worker process, `seen_at` being the store's now.
  virtual Result<void> announce(const WorkerRecord& worker) = 0;
  virtual Result<void> depart(const std::string& identity) = 0;
  /// Those seen within `within`, by identity. Forgets those that have not been seen for a day.
  virtual Result<std::vector<WorkerRecord>> workers(Duration within) = 0;
};

}  // namespace sluice::store
