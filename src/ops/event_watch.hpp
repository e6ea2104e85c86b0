// Following events: wait until one has come to rest, or see what is new.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// How to wait; injected, so that tests do not.
struct Pacing {
  std::function<bool(Duration)> pause;  ///< false: stop waiting, the user interrupted
  std::function<Duration()> elapsed;    ///< time since the wait began, by a clock that never steps
};

struct Awaited {
  enum class Ending { delivered, failed, timed_out, interrupted };
  Ending ending = Ending::delivered;
  store::EventRecord event;  ///< as last seen
};

/// Looks until the event is delivered or failed, or `timeout` has passed.
Result<Awaited> await_event(store::Administering& store, const Uuid& id, Duration timeout, const Pacing& pacing);

// Follows events: what is new or has changed among the newest ones that match.

class EventTail {
 public:
  /// So many of the newest matching events are watched.
  static constexpr int kWatched = 200;

  explicit EventTail(store::EventFilter filter) : filter_(std::move(filter)) {}

  /// The first call gives the newest `first`, later ones what has appeared or changed its state since; oldest
  /// first.
  Result<std::vector<store::EventRecord>> next(store::Administering& store, int first);

 private:
  struct Seen {
    Status status = Status::pending;
    std::int64_t claim_seq = 0;
    bool discarded = false;
    bool operator==(const Seen&) const = default;
  };
  store::EventFilter filter_;
  std::map<std::int64_t, Seen> seen_;  // by seq
  bool begun_ = false;
};

}  // namespace sluice::ops
