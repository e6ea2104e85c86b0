// A batch of acknowledgements is looked up by the places that its claims name; the id and the token decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class SqliteSettle : public testing::Test {
 protected:
  /// Acknowledgements of so many events, in insert order.
  std::vector<SettleItem> claim(int count) {
    EXPECT_TRUE(store_->publish(test::events(count)));
    ClaimRequest request;
    request.worker = "w";
    request.limit = count;
    std::vector<SettleItem> items;
    const auto claimed = store_->claim(request).value();
    for (const ClaimedEvent& event : claimed) items.emplace_back().claim = event.claim;
    EXPECT_THAT(items, SizeIs(static_cast<std::size_t>(count)));
    return items;
  }
  SettleReport settle(const std::vector<SettleItem>& items) { return store_->settle(items).value(); }
  Status status(const SettleItem& item) { return store_->get_event(item.claim.event_id)->status; }

  test::TempDir folder_;
  std::unique_ptr<Store> store_ = open_sqlite({.path = folder_.file("store.db")}).value();
};

TEST_F(SqliteSettle, ABatchWhosePlacesAreUnknownIsFoundById) {
  auto items = claim(3);
  for (SettleItem& item : items) item.claim.locator = 0;
  const SettleReport report = settle(items);
  EXPECT_EQ(report.settled, 3);
  EXPECT_THAT(report.fenced, IsEmpty());
  for (const SettleItem& item : items) EXPECT_EQ(status(item), Status::delivered);
}

// As after a backup was restored, when the numbers have been given a second time.
TEST_F(SqliteSettle, AnotherEventAtTheNamedPlaceIsLeftAlone) {
  auto items = claim(3);
  const SettleItem other = items.back();
  items.pop_back();
  items.front().claim.locator = other.claim.locator;
  EXPECT_EQ(settle(items).settled, 2);
  EXPECT_EQ(status(items.front()), Status::delivered);
  EXPECT_EQ(status(other), Status::in_flight);
}

TEST_F(SqliteSettle, ALostClaimAtItsOwnPlaceIsFencedAmongOthers) {
  auto items = claim(3);
  ++items[1].claim.claim_seq;
  const SettleReport report = settle(items);
  EXPECT_EQ(report.settled, 2);
  EXPECT_THAT(report.fenced, ElementsAre(items[1].claim.event_id));
  EXPECT_EQ(status(items[1]), Status::in_flight);
}

TEST_F(SqliteSettle, OneEventTwiceInABatchIsSettledOnce) {
  auto items = claim(2);
  items.push_back(items.front());
  const SettleReport report = settle(items);
  EXPECT_EQ(report.settled, 2);
  EXPECT_THAT(report.fenced, ElementsAre(items.front().claim.event_id));
}

// A power failure: the file is as it was before the claim, and the machine is started again.
class SqlitePowerFailure : public testing::Test {
 protected:
  std::unique_ptr<Store> open(std::int64_t boot) { return open_sqlite({.path = path_, .boot = boot}).value(); }
  static ClaimRef claim(Store& store) {
    ClaimRequest request;
    request.worker = "w";
    return store.claim(request).value().at(0).claim;
  }
  static SettleItem delivered(const ClaimRef& claim) {
    SettleItem item;
    item.claim = claim;
    return item;
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqlitePowerFailure, AForgottenClaimIsFencedThoughItsNumberIsGivenOutAgain) {
  ASSERT_TRUE(open(1)->publish(test::events(1)));
  const std::string before = folder_.file("before.db");
  std::filesystem::copy_file(path_, before);
  const ClaimRef forgotten = claim(*open(1));
  std::filesystem::copy_file(before, path_, std::filesystem::copy_options::overwrite_existing);

  const auto store = open(2);
  const ClaimRef held = claim(*store);
  ASSERT_EQ(held.claim_seq, forgotten.claim_seq);
  EXPECT_THAT(store->heartbeat(std::vector{forgotten}, std::chrono::minutes{1}).value(), SizeIs(1));
  const SettleReport late = store->settle(std::vector{delivered(forgotten)}).value();
  EXPECT_THAT(late.fenced, ElementsAre(forgotten.event_id));
  auto effect = store->begin_effect(std::chrono::minutes{1}).value();
  EXPECT_THAT(effect->enter("a.b", std::vector{EffectTransaction::Entry{forgotten, "k"}}).value(),
              ElementsAre(EffectTransaction::Entered::fenced));
  effect.reset();
  EXPECT_THAT(store->heartbeat(std::vector{held}, std::chrono::minutes{1}).value(), IsEmpty());
  EXPECT_EQ(store->settle(std::vector{delivered(held)})->settled, 1);
}

TEST_F(SqlitePowerFailure, AClaimOutlivesItsProcess) {
  ASSERT_TRUE(open(1)->publish(test::events(1)));
  const ClaimRef held = claim(*open(1));
  EXPECT_EQ(open(1)->settle(std::vector{delivered(held)})->settled, 1);
}

}  // namespace
}  // namespace sluice::store
