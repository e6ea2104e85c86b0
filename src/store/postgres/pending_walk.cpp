#include "store/postgres/pending_walk.hpp"

#include <algorithm>

namespace sluice::store {

PendingWalk::PendingWalk(std::int64_t from, std::size_t most_remembered)
    : most_remembered_(most_remembered), cursor_(from), history_end_(from) {}

void PendingWalk::begin() {
  above_ = cursor_.low();
  looks_ = 0;
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
  if (done_ || looks_ >= kLooks) return std::nullopt;
  return above_;
}

void PendingWalk::looked(const PendingLook& look) {
  ++looks_;
  pending_ += look.pending;
  note(look.oldest);
  numbers_.insert(numbers_.end(), look.numbers.begin(), look.numbers.end());
  if (look.looked > 0) {
    above_ = look.last;
    cursor_.looked_up_to(look.last);
  }
  // A full look of which most is pending has reached the backlog: what lies above it was hardly touched.
  const bool full = look.looked >= kLookRows;
  within_backlog_ = full && look.pending > look.looked / 2;
  done_ = !full || within_backlog_;
}

std::optional<PendingWalk::Range> PendingWalk::history() const {
  if (history_read_ >= history_end_) return std::nullopt;
  return Range{history_read_, history_end_};
}

void PendingWalk::looked_at_history(const PendingLook& look) {
  history_read_ = look.looked < kLookRows ? history_end_ : look.last;
  note(look.oldest);
  for (const std::int64_t number : look.numbers) remember(number);
}

void PendingWalk::remember(std::int64_t number) {
  if (remembered_.size() < most_remembered_) remembered_.insert(number);
}

void PendingWalk::note(std::optional<Timestamp> oldest) {
  if (oldest) oldest_ = oldest_ ? std::min(*oldest_, *oldest) : *oldest;
}

void PendingWalk::end(const Horizon& horizon) {
  // What finds no room to be remembered stays ahead of the walk.
  const std::size_t room = most_remembered_ - remembered_.size();
  GapView view{horizon.oldest_running, std::nullopt, horizon.drawn};
  if (numbers_.size() > room) view.first_open = numbers_[room];
  cursor_.gap_seen(view, above_);
  for (const std::int64_t number : numbers_) {
    if (number > cursor_.low()) break;
    remember(number);
    --pending_;
  }
}

std::int64_t PendingWalk::count(std::int64_t newest) const {
  const std::int64_t unseen = within_backlog_ ? std::max<std::int64_t>(newest - above_, 0) : 0;
  return static_cast<std::int64_t>(remembered_.size()) + pending_ + unseen;
}

}  // namespace sluice::store
