// The handlers that this process hosts.
#pragma once

#include <memory>
#include <semaphore>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/handler.hpp>
#include <sluice/retry_policy.hpp>
#include "core/subscription.hpp"

namespace sluice::runtime {

struct RegisteredHandler {
  Subscription subscription;
  EventHandler handler;
  RetryPolicy retry;
  Duration timeout{};       ///< zero: none
  int concurrency = 0;      ///< zero: no limit of its own
  bool idempotent = false;  ///< needs no dedup where an event has no other handler

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

}  // namespace sluice::runtime
