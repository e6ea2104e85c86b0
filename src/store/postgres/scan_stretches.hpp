// How workers share a backlog: a process reserves a part of its numbers (core.claim_reserve), and each claim gets a
// stretch of that for itself, so that no two walk over the same rows only to find them taken. Pure.
//
// A matter of speed alone: what a claim leaves behind in its stretch is handed out again, and what is forgotten for
// good (the process ends) lies above the group's low mark in the database, where core.claim_cursor_advance finds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

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
  explicit ScanStretches(std::int64_t head = 0) : head_(head) {}

  /// Every number up to here was looked at, or is part of a stretch.
  [[nodiscard]] std::int64_t head() const { return head_; }
  /// Whether there is known to be more above it.
  [[nodiscard]] bool is_behind() const { return head_ < top_ || !reserved_.empty(); }

  /// What should be reserved before the next claim; none: there is enough, or no backlog to speak of.
  struct Wish {
    std::int64_t after = 0;
    std::int64_t length = 0;
    std::int64_t top = 0;
  };
  [[nodiscard]] std::optional<Wish> wish(int limit) const;
  /// The numbers above `after` are this process's.
  void granted(std::int64_t after, std::int64_t length);
  /// Others have come this far, and too little is left.
  void refused(std::int64_t head) { head_ = std::max(head_, std::min(head, top_)); }

  /// Where the next claim of up to `limit` events is to look.
  Stretch next(int limit);
  void seen(const Stretch& stretch, const StretchView& view);
  /// The claim came to nothing: an error, or a rival that a swift one does not pass over.
  void failed(const Stretch& stretch);

 private:
  static constexpr int kFirstPause = 64;

  void sample(std::int64_t found, std::int64_t length);
  [[nodiscard]] std::int64_t stretch_length(int limit) const;

  std::int64_t head_;
  std::int64_t top_ = 0;
  double density_ = 1.0;  // events found per number
  bool swift_ = false;    // the last stretch was all wanted events
  int slow_for_ = 0;      // stretches until a rival is risked again
  int pause_ = kFirstPause;
  std::vector<Stretch> left_;
  std::vector<Stretch> reserved_;
};

}  // namespace sluice::store
