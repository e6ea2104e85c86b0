// Moving house: a store hands its rows over, slice by slice, and another one takes them in. What travels is neutral: a
// JSON object per row, columns by name. Neither side knows which store the other one is.
//
// A slice is copied again whenever its digest is another one than that of the rows that were taken in last, so a change
// of any kind is seen, and a copy can be broken off anywhere. The first pass reads everything; from then on the old
// store notes what is written to, so the last one has as little to do as was written since, however large the store is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "store/event_record.hpp"

namespace sluice::store {

struct MoveSlice {
  std::string table;
  std::string slice;  ///< what it is called in its table: a number, a minute; empty: all of it

  friend auto operator<=>(const MoveSlice&, const MoveSlice&) = default;
};

struct MovedSlice {
  MoveSlice slice;
  std::string digest;  ///< of the rows as they were given
  std::int64_t rows = 0;
};

/// What the old store has noted of writes up to a moment.
struct MoveNotes {
  std::int64_t watch = 0;  ///< which watch: one that was ended has missed something
  std::int64_t upto = 0;
};

class MoveRows {
 public:
  virtual ~MoveRows() = default;
  /// In the order in which they have to be taken in.
  virtual Result<std::vector<MoveSlice>> slices() = 0;
  /// Those that were written to since, and the small tables; `notes` is moved to now. conflict: the watch was ended.
  virtual Result<std::vector<MoveSlice>> touched(MoveNotes& notes) = 0;
  virtual Result<std::vector<std::string>> rows(const MoveSlice& slice) = 0;
};

/// The old store, held: nobody else writes to it until this is over. Dropped, everything goes on as before, also when
/// the process is killed.
class MoveSwitch : public MoveRows {
 public:
  /// From now on every write is refused with a sentence that names the new home. Ends the hold.
  virtual Result<void> moved_to(const std::string& home) = 0;
  /// Undoes moved_to. Ends the hold.
  virtual Result<void> taken_back() = 0;
};

class MoveSource : public MoveRows {
 public:
  virtual Result<std::optional<std::string>> home() = 0;  ///< where it has moved to; none: it is here
  virtual Result<std::int64_t> in_flight() = 0;
  /// Writes are noted from now on, until claims go on or the store has moved.
  virtual Result<MoveNotes> note_writes() = 0;
  /// Nothing is claimed for this long; zero: claims go on at once.
  virtual Result<void> hold_claims(Duration length, const std::string& home) = 0;
  virtual Result<std::unique_ptr<MoveSwitch>> begin_switch() = 0;
};

struct MoveState {
  std::optional<std::string> moving_from;  ///< a move that has begun
  std::optional<std::string> moved_from;   ///< one that is over
  bool holds_rows = false;
  bool has_workers = false;
};

class MoveTarget {
 public:
  virtual ~MoveTarget() = default;
  virtual Result<MoveState> move_state() = 0;
  virtual Result<void> begin_move(const std::string& from) = 0;
  virtual Result<std::vector<MovedSlice>> moved_slices() = 0;
  /// Replaces the slice by these rows, compares what is stored with what was given and remembers the digest, all in one
  /// transaction. Without rows the slice is forgotten.
  virtual Result<void> import_slice(const MovedSlice& slice, std::span<const std::string> rows) = 0;
  /// How many rows of a slice are not as they were given, or were not given.
  virtual Result<std::int64_t> differing(const MoveSlice& slice, std::span<const std::string> rows) = 0;
  /// Rows of outbox, event_handled, audit and operations, in this order.
  virtual Result<std::vector<std::int64_t>> move_totals() = 0;
  virtual Result<void> finish_move(const Actor& actor) = 0;
  /// Undoes finish_move.
  virtual Result<void> undo_move() = 0;
};

}  // namespace sluice::store
