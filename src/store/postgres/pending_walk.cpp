#include "store/postgres/pending_walk.hpp"

#include <algorithm>
#include <iterator>

namespace sluice::store {

PendingWalk::PendingWalk(std::int64_t from, std::size_t most_remembered)
    : most_remembered_(most_remembered), low_(from), mark_(from), history_end_(from) {}

void PendingWalk::begin(Reach reach) {
  reach_ = reach;
  above_ = low_;
  looks_ = 0;
  history_done_ = false;
  reached_end_ = false;
  listed_all_ = true;
  done_ = false;
  within_backlog_ = false;
  pending_ = 0;
  numbers_.clear();
  oldest_.reset();
}

void PendingWalk::reopen(const std::vector<std::int64_t>& still_pending, std::optional<Timestamp> oldest) {
  remembered_ = {still_pending.begin(), still_pending.end()};
  note(oldest);
}

std::optional<std::int64_t> PendingWalk::look_above() const {
  const bool enough = looks_ >= kLooks && (reach_ == Reach::some || too_many());
  if (done_ || enough) return std::nullopt;
  return above_;
}

void PendingWalk::looked(const PendingLook& look) {
  ++looks_;
  pending_ += look.pending;
  note(look.oldest);
  numbers_.insert(numbers_.end(), look.numbers.begin(), look.numbers.end());
  if (look.looked > 0) above_ = look.last;
  // A full look of which most is pending has reached the backlog: what lies above it was hardly touched.
  const bool full = look.looked >= kLookRows;
  within_backlog_ = full && look.pending > look.looked / 2;
  reached_end_ = !full;
  listed_all_ = listed_all_ && look.pending == static_cast<std::int64_t>(look.numbers.size());
  done_ = reached_end_ || within_backlog_;
}

std::optional<PendingWalk::Range> PendingWalk::history() const {
  if (history_done_ || history_read_ >= history_end_) return std::nullopt;
  return Range{history_read_, history_end_};
}

void PendingWalk::looked_at_history(const PendingLook& look) {
  history_read_ = look.looked < kLookRows ? history_end_ : look.last;
  history_done_ = reach_ == Reach::some;
  note(look.oldest);
  for (const std::int64_t number : look.numbers) {
    if (remembered_.size() >= most_remembered_) {
      // What finds no room stays to be read.
      history_read_ = number - 1;
      history_done_ = true;
      return;
    }
    remembered_.insert(number);
  }
}

bool PendingWalk::read_all(std::int64_t newest, const std::vector<std::int64_t>& numbers) {
  if (numbers.size() > most_remembered_) return false;
  const auto ahead = std::upper_bound(numbers.begin(), numbers.end(), low_);
  remembered_ = {numbers.begin(), ahead};
  numbers_.assign(ahead, numbers.end());
  pending_ = static_cast<std::int64_t>(numbers_.size());
  history_read_ = history_end_;
  above_ = std::max(above_, newest);
  done_ = reached_end_ = true;
  return true;
}

bool PendingWalk::too_many() const { return remembered_.size() + numbers_.size() > most_remembered_; }

void PendingWalk::note(std::optional<Timestamp> oldest) {
  if (oldest) oldest_ = oldest_ ? std::min(*oldest_, *oldest) : *oldest;
}

void PendingWalk::end(const Horizon& horizon) {
  // What was not looked at, and what finds no room to be remembered, stays ahead of the walk.
  const std::size_t room = most_remembered_ - remembered_.size();
  const std::int64_t first_open = numbers_.size() > room ? numbers_[room] : above_ + 1;
  move_low(horizon, first_open);
  // Once more: while nobody writes, what was looked at just now cannot change any more.
  move_low(horizon, first_open);
  for (const std::int64_t number : numbers_) {
    if (number > low_) break;
    remembered_.insert(number);
    --pending_;
  }
}

void PendingWalk::move_low(const Horizon& horizon, std::int64_t first_open) {
  if (horizon.oldest_running <= mark_drawn_) return;
  low_ = std::max(low_, std::min(mark_, first_open - 1));
  mark_ = std::max(mark_, above_);
  mark_drawn_ = horizon.drawn;
}

std::int64_t PendingWalk::unread(std::int64_t oldest, std::int64_t newest) const {
  const auto part = [&](std::int64_t above, std::int64_t upto) {
    return std::max<std::int64_t>(upto - std::max(above, oldest - 1), 0);
  };
  return part(history_read_, history_end_) + part(low_, newest);
}

std::vector<std::int64_t> PendingWalk::found() const {
  std::vector<std::int64_t> numbers;
  std::set_union(remembered_.begin(), remembered_.end(), numbers_.begin(), numbers_.end(), std::back_inserter(numbers));
  return numbers;
}

std::int64_t PendingWalk::count(std::int64_t newest) const {
  const std::int64_t unseen = within_backlog_ ? std::max<std::int64_t>(newest - above_, 0) : 0;
  return static_cast<std::int64_t>(remembered_.size()) + pending_ + unseen;
}

}  // namespace sluice::store
