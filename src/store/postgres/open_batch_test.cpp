#include "store/postgres/open_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace sluice::store {
namespace {

constexpr std::int64_t kBatch = 7;

Uuid id_of(int number) { return Uuid::parse("00000000-0000-7000-8000-00000000000" + std::to_string(number)).value(); }

SettleItem item_of(int number) {
  SettleItem item;
  item.claim.event_id = id_of(number);
  item.claim.batch = kBatch;
  return item;
}

// What the server has: which events are in flight, and whether their claim is known. A claim that is forgotten while
// one is in flight would never expire.
class OpenBatchesModel {
 public:
  explicit OpenBatchesModel(int events) : in_flight_(static_cast<std::size_t>(events), true) {
    std::vector<Uuid> ids;
    for (int i = 0; i < events; ++i) ids.push_back(id_of(i));
    batches_.add(kBatch, OpenBatch{ids, OpenBatch::TimePoint::max()});
  }

  BatchesSettling begin(const std::vector<int>& events) {
    std::vector<SettleItem> items;
    std::transform(events.begin(), events.end(), std::back_inserter(items), item_of);
    return batches_.begin(items);
  }
  void end(const std::vector<int>& events, const BatchesSettling& settling, bool success) {
    if (!success) return batches_.failed(settling);
    for (const int event : events) in_flight_[static_cast<std::size_t>(event)] = false;
    claimed_ = claimed_ && settling.finished.empty();
    // Asks the server whether something is in flight.
    const auto left = batches_.succeeded(settling);
    if (!left.empty() && !any_in_flight()) claimed_ = false;
  }
  [[nodiscard]] bool any_in_flight() const {
    return std::find(in_flight_.begin(), in_flight_.end(), true) != in_flight_.end();
  }
  [[nodiscard]] bool is_claimed() const { return claimed_; }
  [[nodiscard]] std::size_t open() const { return batches_.size(); }

 private:
  OpenBatches batches_;
  std::vector<bool> in_flight_;
  bool claimed_ = true;
};

// Three settles of three events begin and end in every order, and each succeeds or fails; then what failed is settled
// again. Two of them may name the same event.
void run_in_every_order(const std::vector<std::vector<int>>& settles) {
  std::vector<int> order;
  for (int settle = 0; settle < static_cast<int>(settles.size()); ++settle) order.insert(order.end(), 2, settle);
  int orders = 0;
  do {
    for (unsigned outcomes = 0; outcomes < 1U << settles.size(); ++outcomes) {
      OpenBatchesModel model{3};
      std::vector<std::optional<BatchesSettling>> begun(settles.size());
      for (const int settle : order) {
        const auto at = static_cast<std::size_t>(settle);
        if (!begun[at]) {
          begun[at] = model.begin(settles[at]);
        } else {
          model.end(settles[at], *begun[at], (outcomes >> at & 1U) != 0);
        }
        ASSERT_TRUE(model.is_claimed() || !model.any_in_flight()) << "stranded";
      }
      const std::vector<int> all{0, 1, 2};
      model.end(all, model.begin(all), true);
      ASSERT_EQ(model.open(), 0U);
      ++orders;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 90 * 8);
}

TEST(OpenBatches, NoOrderForgetsTheClaimOfWhatIsInFlight) { run_in_every_order({{0}, {1}, {2}}); }

TEST(OpenBatches, NorWhereTwoSettleTheSameEvent) { run_in_every_order({{0, 1}, {1}, {2}}); }

TEST(OpenBatches, TheLastSettleForgetsTheClaimItself) {
  OpenBatchesModel model{3};
  model.end({0, 1}, model.begin({0, 1}), true);
  const auto last = model.begin({2});
  EXPECT_EQ(last.finished, std::vector<std::int64_t>{kBatch});
  model.end({2}, last, true);
  EXPECT_FALSE(model.is_claimed());
}

}  // namespace
}  // namespace sluice::store
