#include "core/history.hpp"

#include <algorithm>

namespace sluice {
namespace {

void keep_higher(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& other) {
  if (other) value = std::max(value.value_or(*other), *other);
}

}  // namespace

std::optional<HistoryKind> history_kind(std::string_view text) {
  const auto found = std::find(kHistoryKinds.begin(), kHistoryKinds.end(), text);
  if (found == kHistoryKinds.end()) return std::nullopt;
  return static_cast<HistoryKind>(found - kHistoryKinds.begin());
}

void HistoryCounts::add(const HistoryCounts& other) {
  delivered += other.delivered;
  replayed += other.replayed;
  failed += other.failed;
  retried += other.retried;
  first.merge(other.first);
  later.merge(other.later);
  replays.merge(other.replays);
  keep_higher(newest, other.newest);
  keep_higher(backlog, other.backlog);
  keep_higher(lag_ms, other.lag_ms);
}

HistoryCounts& HistoryBook::at(Timestamp at, HistoryKind kind, std::string_view name) {
  auto& named = named_.at(static_cast<std::size_t>(kind));
  if (!named.contains(name)) {
    if (named.size() >= kMostHistorySeries) {
      name = kOtherSeries;
    } else {
      named.emplace(name);
    }
  }
  const Timestamp minute = std::chrono::floor<std::chrono::minutes>(at);
  return minutes_[{minute, {kind, std::string{name}}}];
}

void HistoryBook::merge(const HistoryBook& other) {
  for (const auto& [key, counts] : other.minutes_) at(key.first, key.second.kind, key.second.name).add(counts);
}

std::vector<HistoryRow> HistoryBook::rows() const {
  std::vector<HistoryRow> all;
  all.reserve(minutes_.size());
  for (const auto& [key, counts] : minutes_) all.push_back({key.first, key.second, counts});
  return all;
}

}  // namespace sluice
