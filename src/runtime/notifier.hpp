// Notifier: the one way in which work is announced within a process. The listener, a publish by HTTP, a replay, a
// finished operation and a sink that takes deliveries again all come here; it wakes one worker of each pool that may
// want the work. A worker whose claim was full wakes the next of its pool by itself.
//
// An event that this process publishes is announced by the publisher, who knows whom it is for. The store tells of it
// as well: that is not news then.
//
// Thread-safety: any number of threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "core/subscription.hpp"
#include "store/publish.hpp"

namespace sluice::runtime {

/// Who looks for work when told: a pool of workers, or the pull API. Both must not block, nor call the notifier.
struct WakeTarget {
  std::function<bool(const Route& route)> wants;
  std::function<void()> wake;  ///< one of its workers looks
};

class Notifier {
 public:
  using Clock = std::chrono::steady_clock;

  /// `clock` is for tests; default: the steady one.
  explicit Notifier(Generation generation, std::function<Clock::time_point()> clock = {});

  /// Nobody is woken through it any more once it is gone. The notifier outlives it.
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept : notifier_(std::exchange(other.notifier_, nullptr)), at_(other.at_) {}
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { reset(); }
    void reset();

   private:
    friend class Notifier;
    Registration(Notifier& notifier, std::list<WakeTarget>::iterator at) : notifier_(&notifier), at_(at) {}
    Notifier* notifier_ = nullptr;
    std::list<WakeTarget>::iterator at_{};
  };
  [[nodiscard]] Registration add(WakeTarget target);

  /// Something may be claimable, and nobody knows what.
  void announce();

  /// These events are about to be stored: what the store tells of them is not news until stored() or not_stored(), one
  /// of which follows.
  void storing(std::span<const store::NewEvent> events);
  /// They are in the store, or may be: wakes whom they are for.
  void stored(std::span<const store::NewEvent> events);
  void not_stored(std::span<const store::NewEvent> events);

  /// The store tells of these events; none: it does not know of which.
  void heard(std::span<const Uuid> events);

  /// How often a target was woken.
  [[nodiscard]] std::uint64_t wakes() const;

 private:
  struct Own {
    Clock::time_point until{Clock::time_point::max()};  ///< the store is expected to have told of it by then
  };
  bool is_own(const Uuid& event, Clock::time_point now);
  void forget_old(Clock::time_point now);
  void wake(WakeTarget& target);

  Generation generation_;
  std::function<Clock::time_point()> clock_;
  mutable std::mutex mutex_;
  std::list<WakeTarget> targets_;
  std::map<Uuid, Own> own_;
  std::deque<std::pair<Clock::time_point, Uuid>> stored_;  // the oldest first
  std::uint64_t wakes_ = 0;
};

}  // namespace sluice::runtime
