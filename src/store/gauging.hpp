// The store seam, gauging: figures that a daemon reads every few seconds, whatever the table has grown to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "core/generation.hpp"

namespace sluice::store {

/// Counts go no further than this: what they cost does not grow with the table.
inline constexpr std::int64_t kGaugeLook = 10'000;

struct GenerationGauges {
  Generation generation = kFirstGeneration;
  std::int64_t due = 0;                 ///< could be claimed now; beyond kGaugeLook an estimate
  std::optional<Timestamp> oldest_due;  ///< since when the one that waits for longest is due
  std::int64_t waiting = 0;             ///< pending and not yet due; at most kGaugeLook
  std::int64_t in_flight = 0;
  std::int64_t dead = 0;  ///< failed and not discarded; together with the other generations at most kGaugeLook
};

struct StoreGauges {
  Timestamp now{};
  std::vector<GenerationGauges> generations;  ///< ascending: those that have any of it
  bool dead_capped = false;                   ///< there are more dead events than were counted
  std::int64_t oldest = 0;                    ///< the number of the oldest event; numbers are given in insert order
  std::int64_t newest = 0;                    ///< and of the newest; 0: there is none
};

class Gauging {
 public:
  virtual ~Gauging() = default;

  /// Not one moment's state: parts of it are read one after the other. Where the database keeps no index of
  /// what is pending the store remembers how far it has looked: the first answers after its start may miss old
  /// events that nobody has claimed, and find them within the next ones.
  virtual Result<StoreGauges> gauges() = 0;
};

}  // namespace sluice::store
