// DeliveryHistory: what this process has delivered and not yet written into the store's history, minute by minute.
//
// Thread-safety: everything may be called from any thread. Who delivers fills a book of its own and hands it over once
// per batch, so that an event takes no lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/history.hpp"

namespace sluice::telemetry {

class DeliveryHistory {
 public:
  void add(const HistoryBook& book);
  /// What is there, and from now on is not.
  std::vector<HistoryRow> take();
  /// What could not be written after all.
  void put_back(const std::vector<HistoryRow>& rows);
  /// How often something was taken: a new number says that the store may know more.
  [[nodiscard]] std::uint64_t taken() const;
  /// What is there of all, unwritten.
  [[nodiscard]] std::vector<HistoryRow> unwritten() const;

 private:
  mutable std::mutex mutex_;
  HistoryBook book_;
  std::uint64_t taken_ = 0;
};

}  // namespace sluice::telemetry
