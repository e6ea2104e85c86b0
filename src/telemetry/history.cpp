#include "telemetry/history.hpp"

#include <algorithm>

namespace sluice::telemetry {
namespace {

// While the store is away the last hour is kept.
constexpr Duration kUnwrittenKept = std::chrono::hours{1};

}  // namespace

void DeliveryHistory::add(const HistoryBook& book) {
  if (book.empty()) return;
  const std::lock_guard lock{mutex_};
  book_.merge(book);
}

std::vector<HistoryRow> DeliveryHistory::take() {
  const std::lock_guard lock{mutex_};
  std::vector<HistoryRow> rows = book_.rows();
  book_.clear();
  ++taken_;
  return rows;
}

void DeliveryHistory::put_back(const std::vector<HistoryRow>& rows) {
  if (rows.empty()) return;
  const Timestamp newest =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.at < b.at; })->at;
  const std::lock_guard lock{mutex_};
  for (const HistoryRow& row : rows) {
    if (row.at > newest - kUnwrittenKept) book_.at(row.at, row.series.kind, row.series.name).add(row.counts);
  }
}

std::uint64_t DeliveryHistory::taken() const {
  const std::lock_guard lock{mutex_};
  return taken_;
}

std::vector<HistoryRow> DeliveryHistory::unwritten() const {
  const std::lock_guard lock{mutex_};
  std::vector<HistoryRow> rows = book_.rows();
  std::erase_if(rows, [](const HistoryRow& row) { return row.series.kind != HistoryKind::all; });
  return rows;
}

}  // namespace sluice::telemetry
