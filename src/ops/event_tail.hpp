// Follows events: what is new or has changed among the newest ones that match.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

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
