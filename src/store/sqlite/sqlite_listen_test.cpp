// What is SQLite's own about listening: one bell per file and process, and a file that goes quiet.
#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite/bell.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;

class SqliteListen : public testing::Test {
 protected:
  static std::unique_ptr<Store> open(const std::string& path) {
    auto opened = open_sqlite({.path = path});
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  static std::unique_ptr<ListenerConnection> listen(Store& store) {
    auto listener = store.listen({"outbox_gen_1"});
    if (!listener) throw std::runtime_error(listener.error().message);
    return *std::move(listener);
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqliteListen, OneFileHasOneBellByWhicheverPath) {
  const auto store = open(path_);
  std::filesystem::create_symlink(path_, folder_.file("link.db"));
  EXPECT_EQ(sqlite::Bell::of(path_), sqlite::Bell::of(folder_.file("link.db")));
  EXPECT_EQ(sqlite::Bell::of(path_), sqlite::Bell::of(folder_.file("./store.db")));
  EXPECT_NE(sqlite::Bell::of(path_), sqlite::Bell::of(folder_.file("other.db")));
}

TEST_F(SqliteListen, APublishRingsOnce) {
  const auto store = open(path_);
  const auto listener = listen(*store);
  ASSERT_TRUE(store->publish(test::events(1)));
  EXPECT_EQ(*listener->wait(1min), Heard::notification);
  EXPECT_EQ(*listener->wait(0s), Heard::nothing) << "the change of the file is the one that notified";
}

TEST_F(SqliteListen, ADrainedFileGoesQuiet) {
  const auto store = open(path_);
  const auto listener = listen(*store);
  ASSERT_TRUE(store->publish(test::events(20)));
  int wakes = 0;
  while (*listener->wait(0s) == Heard::notification) {
    ++wakes;
    ASSERT_LT(wakes, 5) << "a claim that finds nothing must not notify again";
    ClaimRequest request;
    request.worker = "w";
    request.limit = 100;
    const auto claimed = store->claim(request);
    ASSERT_TRUE(claimed) << claimed.error().message;
    for (const ClaimedEvent& event : *claimed) {
      SettleItem item;
      item.claim = event.claim;
      ASSERT_EQ(store->settle(std::span{&item, 1})->settled, 1);
    }
  }
  EXPECT_GE(wakes, 1);
}

TEST_F(SqliteListen, WhateverMakesAnEventClaimableRings) {
  const auto store = open(path_);
  const auto bell = sqlite::Bell::of(path_);
  const Actor alice{"alice", "cli", "a test"};
  const auto batch = test::events(1);
  const Uuid id = batch[0].envelope.event_id();
  const auto claim = [&] {
    ClaimRequest request;
    request.worker = "w";
    return store->claim(request)->at(0).claim;
  };
  const auto settle = [&](Status next) {
    SettleItem item;
    item.claim = claim();
    item.settlement.next = next;
    return store->settle(std::span{&item, 1})->settled == 1;
  };
  std::uint64_t before = bell->notifications();
  const auto notified = [&] { return bell->notifications() - std::exchange(before, bell->notifications()); };

  ASSERT_TRUE(store->publish(batch));
  EXPECT_EQ(notified(), 1U) << "publish";
  ASSERT_TRUE(store->publish(batch));
  EXPECT_EQ(notified(), 0U) << "a duplicate";
  ASSERT_TRUE(settle(Status::pending));
  EXPECT_EQ(notified(), 1U) << "given back";
  ASSERT_TRUE(settle(Status::failed));
  EXPECT_EQ(notified(), 0U) << "failed";
  ASSERT_TRUE(store->replay(id, 2, alice));
  EXPECT_EQ(notified(), 1U) << "replay";
  ASSERT_EQ(*store->reroute(2, 1, 10, alice), 1);
  EXPECT_EQ(notified(), 1U) << "reroute";
  ASSERT_EQ(*store->reroute(2, 1, 10, alice), 0);
  EXPECT_EQ(notified(), 0U) << "nothing to reroute";
  ASSERT_TRUE(settle(Status::delivered));
  EXPECT_EQ(notified(), 0U) << "delivered";
}

TEST_F(SqliteListen, ACommitPastTheStoreCanBeRungFor) {
  const auto store = open(path_);
  const auto other = open(folder_.file("other.db"));
  const auto listener = listen(*store);
  const auto bystander = listen(*other);
  notify_listeners(path_);
  EXPECT_EQ(*listener->wait(1min), Heard::notification);
  EXPECT_EQ(*bystander->wait(0s), Heard::nothing);
}

TEST_F(SqliteListen, ThereIsNoDoorbellMode) {
  const auto store = open(path_);
  EXPECT_EQ(*store->doorbell(), DoorbellMode::always);
  const auto refused = store->set_doorbell(DoorbellMode::when_idle, {"alice", "cli", ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().field, "mode");
  EXPECT_EQ(refused.error().message, "an embedded store has no doorbell mode: a publish always notifies");
}

}  // namespace
}  // namespace sluice::store
