// The handlers that this process hosts, and what it knows of the subscriptions of all processes.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/handler.hpp>
#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "core/subscription.hpp"
#include "store/observe.hpp"

namespace sluice::runtime {

struct RegisteredHandler {
  Subscription subscription;
  EventHandler handler;
  RetryPolicy retry;
  Duration timeout{};          ///< zero: none
  int concurrency = 0;         ///< zero: no limit of its own
  bool idempotent = false;     ///< needs no dedup where an event has no other handler
  bool delivers_each = false;  ///< is given batches, and treats each event for itself: it has a span per event

  [[nodiscard]] const std::string& name() const { return subscription.handler_name; }
  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

/// Immutable once the threads run; share freely.
class HandlerSet {
 public:
  /// Refuses a handler that is invalid or has the name of another.
  Result<void> add(RegisteredHandler handler);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const RegisteredHandler* find(std::string_view name) const;
  [[nodiscard]] const std::set<std::string, std::less<>>& names() const { return names_; }
  [[nodiscard]] std::vector<Interest> interests() const;
  [[nodiscard]] std::vector<Subscription> subscriptions() const;
  /// This one alone, with the limits that it has here.
  [[nodiscard]] HandlerSet only(std::string_view name) const;

  /// Waits until the handler may run once more at the same time; held until the slot is dropped.
  class Slot {
   public:
    explicit Slot(std::counting_semaphore<>* semaphore) : semaphore_(semaphore) {
      if (semaphore_) semaphore_->acquire();
    }
    ~Slot() {
      if (semaphore_) semaphore_->release();
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    std::counting_semaphore<>* semaphore_;
  };
  [[nodiscard]] Slot slot(const RegisteredHandler& handler) const;

 private:
  struct Entry {
    RegisteredHandler handler;
    std::unique_ptr<std::counting_semaphore<>> semaphore;
  };
  std::vector<std::shared_ptr<Entry>> entries_;  // a copy shares what limits a handler
  std::set<std::string, std::less<>> names_;
};

/// One state of the registry; immutable.
struct RegistrySnapshot {
  store::RegistryVersion version = 0;
  std::vector<Subscription> subscriptions;
  std::set<std::string, std::less<>> served;  ///< handlers that a live worker hosts
  store::RelaySwitch relay{};                 ///< who carries the deliveries

  /// The names of the handlers that want the event.
  [[nodiscard]] std::vector<std::string> matching(const Route& route) const;
  [[nodiscard]] bool has_all(const std::vector<std::string>& handlers) const;
};

/// The same, remembered: the events of a batch are of few kinds. For one thread.
class RouteMemo {
 public:
  explicit RouteMemo(const RegistrySnapshot& registry) : registry_(registry) {}
  const std::vector<std::string>& matching(const Route& route);

 private:
  struct Known {
    std::string event_type;
    std::optional<std::string> target;
    std::string channel;
    std::vector<std::string> handlers;
  };
  const RegistrySnapshot& registry_;
  std::deque<Known> known_;  // the latest first; stays put while it grows
};

struct RegistryViewOptions {
  Generation generation = kFirstGeneration;
  Duration alive_within = std::chrono::seconds{30};  ///< a worker not seen for longer serves nothing
};

/// What this process knows of the subscriptions of its generation, in all processes.
///
/// Thread-safety: any number of threads.
class RegistryView {
 public:
  /// The store outlives the view.
  RegistryView(store::Observing& store, RegistryViewOptions options);
  /// One that never changes: of handlers that do not share their events with others.
  explicit RegistryView(RegistrySnapshot fixed);

  [[nodiscard]] std::shared_ptr<const RegistrySnapshot> current() const;
  Result<void> refresh();

 private:
  store::Observing* store_;  // none: never changes
  RegistryViewOptions options_;
  std::mutex refreshing_;
  mutable std::mutex mutex_;  // guards the pointer
  std::shared_ptr<const RegistrySnapshot> current_ = std::make_shared<RegistrySnapshot>();
};

}  // namespace sluice::runtime
