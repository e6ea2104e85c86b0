// PullClaims: claims for workers in other languages, which ask for events over HTTP. A question that finds nothing
// waits until something can be claimed or its time is over; no thread is held while it waits.
//
// The first question of a handler registers its subscription. While its workers ask, the handler counts as served.
//
// Thread-safety: ask() and wake() from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sluice/result.hpp>
#include "core/subscription.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/notifier.hpp"
#include "runtime/pull_settling.hpp"
#include "runtime/service.hpp"
#include "runtime/telemetry.hpp"

namespace sluice::runtime {

struct PullQuestion {
  Subscription subscription;  ///< no event types: those that are registered for the handler
  std::string worker;         ///< the asker's own name, see PullWorker
  int limit = 10;
  Duration wait{};  ///< how long to wait for something
  Duration ttl = std::chrono::seconds{60};
};

struct PulledEvent {
  store::ClaimedEvent event;
  std::string token;
  Timestamp expires_at{};
};

struct PullClaimsOptions {
  Generation generation = kFirstGeneration;
  Duration poll = std::chrono::seconds{5};  ///< how often to claim although nobody was woken
  std::size_t most_waiting = 1000;          ///< more questions at the same time are refused
  telemetry::MetricSet* metrics = nullptr;
  Notifier* notifier = nullptr;  ///< outlives it; none: only wake() wakes
  Tracer* tracer = nullptr;      ///< none: nothing is traced
};

class PullClaims {
 public:
  using Answer = std::function<void(Result<std::vector<PulledEvent>>)>;

  /// The references outlive it.
  PullClaims(store::Store& store, PullSettling& settling, PullPresence& presence, PullClaimsOptions options);
  ~PullClaims();
  PullClaims(const PullClaims&) = delete;
  PullClaims& operator=(const PullClaims&) = delete;

  void start();
  /// Answers everyone who waits with nothing, and refuses new questions.
  void stop();

  /// Handlers that this process delivers to itself: nobody may pull for them from now on.
  void reserve(std::set<std::string, std::less<>> handlers);

  /// `answer` is called exactly once: from its own thread, or at once with an error about the question.
  void ask(PullQuestion question, Answer answer);

  /// Something may be claimable: whoever waits is tried again.
  void wake();

  /// Looks for everyone whose turn it is, and answers; returns how long nothing need be done. Its thread does this
  /// again and again.
  Duration step();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Waiter {
    PullQuestion question;
    Answer answer;
    TimePoint deadline;
    std::uint64_t number = 0;  ///< in `wanted_`
    bool fresh = true;         ///< has not looked yet
  };
  Result<void> check(const PullQuestion& question);
  Result<std::vector<PulledEvent>> look(PullQuestion& question);
  Result<void> enlist(PullQuestion& question);
  Result<std::vector<PulledEvent>> hand_out(std::vector<store::ClaimedEvent> events, const PullQuestion& question,
                                            const std::string& secret);
  Duration rest_of(const std::string& handler_name);
  /// Leaves the waiter as it is when it refuses.
  std::optional<Error> take_in(Waiter& waiter);
  bool serve(Waiter& waiter, TimePoint now);
  [[nodiscard]] bool wants(const Route& route) const;
  void answer(Waiter& waiter, Result<std::vector<PulledEvent>> events);

  store::Store& store_;
  PullSettling& settling_;
  PullPresence& presence_;
  PullClaimsOptions options_;
  RegistryView registry_;
  WakeSignal signal_;
  std::atomic<bool> woken_ = false;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> reserved_;
  std::vector<Waiter> arrived_;
  std::map<std::uint64_t, Subscription>
      wanted_;  ///< of everyone who has no answer yet, from the moment of the question
  std::uint64_t questions_ = 0;
  std::atomic<std::size_t> waiting_count_ = 0;
  bool stopped_ = false;
  // Its thread alone:
  std::vector<Waiter> waiting_;
  ClaimObserver observer_;
  std::set<std::string, std::less<>> declared_;              ///< handlers that were subscribed from here
  TimePoint refreshed_{};                                    ///< the registry
  std::map<std::string, TimePoint, std::less<>> next_look_;  ///< by handler: nothing was there; look again then
  std::jthread thread_;
  Notifier::Registration registration_;  // last: nobody wakes what is gone
};

}  // namespace sluice::runtime
