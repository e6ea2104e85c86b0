// What is SQLite's own about effects: they hold the one writer, and a transaction can end behind our back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;
using Entered = EffectTransaction::Entered;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SqliteEffect : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_sqlite({.path = folder_.file("store.db"), .busy_timeout = 20ms});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->publish(test::events(1)));
    ClaimRequest request;
    request.worker = "w";
    auto claimed = store_->claim(request);
    ASSERT_EQ(claimed->size(), 1U);
    entry_ = {claimed->front().claim, claimed->front().envelope.idempotency_key()};
    item_.claim = entry_.claim;
  }

  std::unique_ptr<EffectTransaction> begin() {
    auto begun = store_->begin_effect(std::chrono::minutes{1});
    EXPECT_TRUE(begun) << begun.error().message;
    return *std::move(begun);
  }
  EventRecord event() { return *store_->get_event(entry_.claim.event_id); }

  test::TempDir folder_;
  std::unique_ptr<Store> store_;
  EffectTransaction::Entry entry_;
  SettleItem item_;
};

TEST_F(SqliteEffect, AnotherWriteMeanwhileIsRefusedInTimeWithASentence) {
  const auto effect = begin();
  const auto refused = store_->publish(test::events(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(refused.error().retry, Retry::safe);
  EXPECT_THAT(refused.error().message, HasSubstr("another transaction of this process is writing"));
  EXPECT_THAT(refused.error().hint, HasSubstr("that transaction's own connection"));
}

TEST_F(SqliteEffect, ItMayEndOnAnotherThread) {
  auto effect = begin();
  ASSERT_TRUE(effect->enter("tests.counter", std::span{&entry_, 1}));
  std::thread{[&] {
    EXPECT_TRUE(effect->commit());
    effect.reset();
  }}.join();
  EXPECT_EQ(store_->handled(event())->size(), 1U);
  EXPECT_TRUE(store_->publish(test::events(1))) << "the writer is free again";
}

TEST_F(SqliteEffect, AHandlerThatEndsTheTransactionCannotSettle) {
  for (const char* statement : {"rollback", "commit"}) {
    const auto effect = begin();
    ASSERT_TRUE(effect->enter("tests.counter", {}));
    ASSERT_EQ(sqlite3_exec(effect->native().sqlite, statement, nullptr, nullptr, nullptr), SQLITE_OK);
    for (const Error& error : {effect->enter("tests.counter", std::span{&entry_, 1}).error(),
                               effect->settle(std::span{&item_, 1}, std::nullopt).error(), effect->commit().error()}) {
      EXPECT_THAT(error.message, HasSubstr("the transaction of the effect has ended"));
    }
  }
  EXPECT_EQ(event().status, Status::in_flight);
  EXPECT_THAT(*store_->handled(event()), IsEmpty());
}

TEST_F(SqliteEffect, NothingCanBeDoneAfterTheCommit) {
  const auto effect = begin();
  ASSERT_TRUE(effect->commit());
  EXPECT_FALSE(effect->commit());
  EXPECT_FALSE(effect->mark());
  EXPECT_FALSE(effect->undo_to_mark());
  EXPECT_EQ(effect->native().sqlite, nullptr);
}

TEST_F(SqliteEffect, UndoingWithoutAMarkIsRefused) {
  const auto effect = begin();
  const auto refused = effect->undo_to_mark();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "mark");
}

TEST_F(SqliteEffect, AHandlerPublishesOnItsOwnTransaction) {
  const auto listener = *store_->listen({"outbox_gen_1"});
  const auto effect = begin();
  const auto follow_up = test::events(1);
  ASSERT_THAT(*publish_on(effect->native().sqlite, follow_up, test::wall_clock()),
              ElementsAre(PublishOutcome::published));
  EXPECT_FALSE(store_->get_event(follow_up[0].envelope.event_id()));
  ASSERT_TRUE(effect->commit());
  EXPECT_TRUE(store_->get_event(follow_up[0].envelope.event_id()));
  EXPECT_EQ(*listener->wait(1min), Heard::notification);
}

}  // namespace
}  // namespace sluice::store
