// Where new events of one generation still wait, found without an index of what is pending: the brain of the
// gauges. Pure.
//
// An event that has left the state "pending, never waited" does not come back to it, so the table is walked once,
// from the oldest number to the newest. Behind the walk only the events that it found pending are remembered, and
// looked at again; that they are many is rare (nobody wants them), and there is a bound.
//
// Events behind the place where the walk began are caught up with in small parts, round after round, or at once by
// whoever cannot wait: a round may go to the end, and one statement may read everything.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <sluice/time.hpp>

namespace sluice::store {

/// What a look at the events numbered above `after` saw.
struct PendingLook {
  std::int64_t looked = 0;            ///< rows, pending or not
  std::int64_t last = 0;              ///< the highest number among them
  std::int64_t pending = 0;           ///< of them
  std::optional<Timestamp> oldest;    ///< published_at of the oldest pending one
  std::vector<std::int64_t> numbers;  ///< the first pending ones, ascending
};

class PendingWalk {
 public:
  static constexpr std::int64_t kLookRows = 20'000;  ///< of one probe: what fits into the working memory of a session
  static constexpr int kLooks = 5;  ///< in one round: a quarter of a second, where there is much to catch up with

  /// `from`: everything up to here was claimed once, or is nobody's.
  explicit PendingWalk(std::int64_t from, std::size_t most_remembered);

  /// What a round has to know of other transactions: a number is drawn before its transaction commits.
  struct Horizon {
    std::int64_t oldest_running = 0;  ///< read before the probes
    std::int64_t drawn = 0;           ///< every transaction that could have inserted by the end of the probes is below
  };

  enum class Reach {
    some,     ///< a few looks
    the_end,  ///< until everything was looked at, or more is pending than can be remembered
  };

  // One round: begin, reopen with what is left of remembered(), look until done, end.
  void begin(Reach reach = Reach::some);
  [[nodiscard]] const std::set<std::int64_t>& remembered() const { return remembered_; }
  void reopen(const std::vector<std::int64_t>& still_pending, std::optional<Timestamp> oldest);

  /// The next probe begins above this number; none: the round has seen enough.
  [[nodiscard]] std::optional<std::int64_t> look_above() const;
  void looked(const PendingLook& look);

  /// The part of the history that this round should read next: above the first, up to the second. None: that was it.
  struct Range {
    std::int64_t above = 0;
    std::int64_t upto = 0;
  };
  [[nodiscard]] std::optional<Range> history() const;
  void looked_at_history(const PendingLook& look);

  /// Instead of the probes: everything up to `newest` was read, and these numbers, ascending, are pending. False when
  /// they are more than can be remembered: then nothing has changed.
  bool read_all(std::int64_t newest, const std::vector<std::int64_t>& numbers);

  void end(const Horizon& horizon);

  /// About how many numbers of a generation lie before the walk.
  [[nodiscard]] std::int64_t unread(std::int64_t oldest, std::int64_t newest) const;
  /// Whether found() is every pending event; if not, count() may be an estimate.
  [[nodiscard]] bool complete() const { return reached_end_ && listed_all_ && history_read_ >= history_end_; }
  /// The numbers of the events that the last round found pending, ascending.
  [[nodiscard]] std::vector<std::int64_t> found() const;

  /// Pending events; `newest` is the highest number of the generation, for what was not looked at.
  [[nodiscard]] std::int64_t count(std::int64_t newest) const;
  [[nodiscard]] std::optional<Timestamp> oldest() const { return oldest_; }

 private:
  [[nodiscard]] bool too_many() const;
  void note(std::optional<Timestamp> oldest);
  void move_low(const Horizon& horizon, std::int64_t first_open);

  std::size_t most_remembered_;
  // Everything at or below low_ is visible and was looked at. It may move to mark_ once every transaction up to
  // mark_drawn_ has ended.
  std::int64_t low_;
  std::int64_t mark_;
  std::int64_t mark_drawn_ = 0;
  std::set<std::int64_t> remembered_;  // pending, at or below low_
  std::int64_t history_read_ = 0;
  std::int64_t history_end_;
  // Of this round.
  Reach reach_ = Reach::some;
  std::int64_t above_ = 0;  // the next probe
  int looks_ = 0;
  bool history_done_ = false;
  bool reached_end_ = false;
  bool listed_all_ = true;
  bool done_ = false;
  bool within_backlog_ = false;  // the last probe ended among pending events
  std::int64_t pending_ = 0;
  std::vector<std::int64_t> numbers_;
  std::optional<Timestamp> oldest_;
};

}  // namespace sluice::store
