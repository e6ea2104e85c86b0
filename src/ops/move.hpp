// `sluice move`: a store becomes another one, while it is in use.
//
// One pass copies everything, and others what was written to meanwhile, until little is left. Then claims are held
// until what is in flight has settled, or the patience is over; the old store is held as a whole while the last changes
// are copied and counted; and it refuses every write from then on. Broken off anywhere, the old store goes on as
// before, and the next run takes up what was copied.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/administer.hpp"
#include "store/move.hpp"

namespace sluice::ops {

struct MoveOrder {
  std::string from;                              ///< for people, and how the new store tells one move from another
  std::string home;                              ///< the new store for people, without its password
  Duration patience = std::chrono::seconds{30};  ///< for what is in flight
  store::Actor actor;
};

struct MoveProgress {
  std::string phase;  ///< copy, drain, switch, back
  std::string table;
  std::int64_t done = 0;  ///< slices
  std::int64_t total = 0;
};

/// What a move asks of its surroundings.
struct MoveHost {
  std::function<void(const MoveProgress&)> tell;
  /// Waits; true: to be broken off.
  std::function<bool(Duration)> wait;
  std::function<std::chrono::steady_clock::time_point()> clock;
};

struct MovedTable {
  std::int64_t rows = 0;
  std::string digest;  ///< of the digests of its slices, in order
};

struct MoveReport {
  std::map<std::string, MovedTable> tables;
  int passes = 0;              ///< before the switch
  std::int64_t copied = 0;     ///< slices, in all passes
  std::int64_t in_flight = 0;  ///< events that were cut off: they are delivered again
  Duration held{};             ///< how long the old store was
};

/// Null: it cannot be moved from, or to.
store::MoveSource* move_source(store::Administering& store);
store::MoveTarget* move_target(store::Administering& store);

/// conflict when it cannot be: the target holds something else, workers are at work there, the store has moved before.
/// invalid when PostgreSQL cannot hold an event; the sentence names it.
Result<MoveReport> move_store(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                              const MoveHost& host);

/// What there is to copy, and whether it can be; changes nothing.
Result<MoveReport> preview_move(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                                const MoveHost& host);

/// The old store takes writes again. conflict when the new one has changed since.
Result<MoveReport> move_back(store::MoveSource& from, store::MoveTarget& to, const MoveOrder& order,
                             const MoveHost& host);

std::string to_json(const MoveReport& report, bool dry_run);

}  // namespace sluice::ops
