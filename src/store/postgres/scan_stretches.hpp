// How the workers of one process share a backlog: each claim gets a stretch of numbers of its own, so that no two
// walk over the same rows only to find them taken. Pure.
//
// A stretch is a matter of speed alone: what a claim leaves behind in it is handed out again, and what is forgotten
// for good (the process ends) lies between the cursor's marks, where the look at the gap finds it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/postgres/scan_cursor.hpp"

namespace sluice::store {

/// Numbers above `after`; up to `upto`, or as far as they go.
struct Stretch {
  std::int64_t after = 0;
  std::optional<std::int64_t> upto;
  bool swift = false;  ///< it should be all wanted events: take them without locking them first
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// What a claim saw of its stretch.
struct StretchView {
  std::optional<std::int64_t> looked_up_to;  ///< none: it had no room for new events
  std::optional<std::int64_t> top;           ///< the highest number there is, where the claim asked
  std::int64_t found = 0;                    ///< events above `after` and up to there that it took
  bool keyed = false;                        ///< some have an ordering key
};

class ScanStretches {
 public:
  /// Where the next claim of up to `limit` events is to look. Moves the cursor's head past a bounded stretch.
  Stretch next(ScanCursor& cursor, int limit);
  void seen(const Stretch& stretch, const StretchView& view, ScanCursor& cursor);
  /// The claim came to nothing: an error, or a rival that a swift one does not pass over.
  void failed(const Stretch& stretch);

 private:
  static constexpr int kFirstPause = 64;

  void sample(std::int64_t found, std::int64_t length);

  std::int64_t top_ = 0;
  double density_ = 1.0;  // events found per number
  bool swift_ = false;    // the last stretch was all wanted events
  int slow_for_ = 0;      // stretches until a rival is risked again
  int pause_ = kFirstPause;
  std::vector<Stretch> left_;
};

}  // namespace sluice::store
