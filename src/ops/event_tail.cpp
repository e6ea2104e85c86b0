#include "ops/event_tail.hpp"

#include <algorithm>

namespace sluice::ops {

Result<std::vector<store::EventRecord>> EventTail::next(store::Administering& store, int first) {
  auto page = store.list_events(filter_, kWatched, std::nullopt);
  if (!page) return std::move(page).error();
  std::map<std::int64_t, Seen> now;
  std::vector<store::EventRecord> changed;
  for (store::EventRecord& event : page->events) {
    const Seen state{event.status, event.claim_seq, event.deleted_at.has_value()};
    now.emplace(event.seq, state);
    const auto before = seen_.find(event.seq);
    const bool is_news = begun_ ? before == seen_.end() || before->second != state
                                : changed.size() < static_cast<std::size_t>(std::max(first, 0));
    if (is_news) changed.push_back(std::move(event));
  }
  seen_ = std::move(now);
  begun_ = true;
  std::reverse(changed.begin(), changed.end());
  return changed;
}

}  // namespace sluice::ops
