// What a power failure leaves: the files as they were when the log was last synced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/watched_log.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using testing::SizeIs;

class SqliteDurability : public testing::Test {
 protected:
  void SetUp() override {
    log_.synced = [this] { keep(); };
    store_ = open_sqlite({.path = path_}).value();
  }

  Uuid publish() {
    const auto batch = test::events(1);
    EXPECT_TRUE(store_->publish(batch));
    return batch[0].envelope.event_id();
  }
  SettleItem claim_one() {
    ClaimRequest request;
    request.worker = "w";
    request.limit = 1;
    const auto claimed = store_->claim(request).value();
    EXPECT_THAT(claimed, SizeIs(1));
    SettleItem item;
    item.claim = claimed.at(0).claim;
    item.idempotency_key = claimed.at(0).envelope.idempotency_key();
    return item;
  }
  void settle(const SettleItem& item) { EXPECT_EQ(store_->settle(std::span{&item, 1})->settled, 1); }

  /// The store as it is found after the power came back.
  std::unique_ptr<Store> after_a_power_failure() const {
    const std::filesystem::path found = folder_.path() / "found";
    std::filesystem::remove_all(found);
    std::filesystem::copy(kept_, found);
    return open_sqlite({.path = (found / "store.db").string()}).value();
  }
  Status status_after_a_power_failure(const Uuid& id) const { return after_a_power_failure()->get_event(id)->status; }

 private:
  void keep() const {
    std::filesystem::create_directories(kept_);
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + suffix, kept_ / ("store.db" + std::string{suffix}),
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
  std::filesystem::path kept_ = folder_.path() / "kept";
  test::WatchedLog log_;

 protected:
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteDurability, APublishedEventStays) {
  const Uuid id = publish();
  EXPECT_EQ(status_after_a_power_failure(id), Status::pending);
}

TEST_F(SqliteDurability, APlainAcknowledgementIsTakenBackAndTheEventDeliveredAgain) {
  const Uuid id = publish();
  settle(claim_one());
  EXPECT_EQ(store_->get_event(id)->status, Status::delivered);
  const auto found = after_a_power_failure();
  ClaimRequest request;
  request.worker = "next";
  const auto again = found->claim(request).value();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].envelope.event_id(), id);
}

TEST_F(SqliteDurability, AFailureStays) {
  const Uuid id = publish();
  SettleItem item = claim_one();
  item.settlement.next = Status::failed;
  item.settlement.cause = Cause::fail;
  settle(item);
  EXPECT_EQ(status_after_a_power_failure(id), Status::failed);
}

TEST_F(SqliteDurability, ARetryStays) {
  const Uuid id = publish();
  SettleItem item = claim_one();
  item.settlement.next = Status::pending;
  item.settlement.cause = Cause::retry;
  item.settlement.counts_attempt = true;
  settle(item);
  EXPECT_EQ(after_a_power_failure()->get_event(id)->attempts, 1);
}

TEST_F(SqliteDurability, ADedupRowStaysWithItsAcknowledgement) {
  const Uuid id = publish();
  SettleItem item = claim_one();
  item.handled_by = {"tests.counter"};
  settle(item);
  const auto found = after_a_power_failure();
  const auto event = found->get_event(id);
  EXPECT_EQ(event->status, Status::delivered);
  EXPECT_THAT(*found->handled(*event), SizeIs(1));
}

TEST_F(SqliteDurability, AnEffectStays) {
  const Uuid id = publish();
  const SettleItem item = claim_one();
  auto effect = store_->begin_effect(std::chrono::minutes{1}).value();
  ASSERT_TRUE(effect->settle(std::span{&item, 1}, std::nullopt));
  ASSERT_TRUE(effect->commit());
  EXPECT_EQ(status_after_a_power_failure(id), Status::delivered);
}

TEST_F(SqliteDurability, WhatWaitsForTheDiskTakesEverythingBeforeItAlong) {
  const Uuid id = publish();
  settle(claim_one());
  publish();
  EXPECT_EQ(status_after_a_power_failure(id), Status::delivered);
}

}  // namespace
}  // namespace sluice::store
