// Publishers that come at once share a commit, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"
#include "store/sqlite/watched_log.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Outcomes = Result<std::vector<PublishOutcome>>;

class SqlitePublishTogether : public testing::Test {
 protected:
  void SetUp() override {
    store_ = open_sqlite({.path = path_, .clock = [this] { return now(); }}).value();
    watching_ = true;
  }

  bool stored(const NewEvent& event) { return store_->get_event(event.envelope.event_id()).has_value(); }

  /// Publishes each of the batches from a thread of its own, all of them in one commit.
  std::vector<Outcomes> publish_together(const std::vector<std::vector<NewEvent>>& batches) {
    std::vector<Outcomes> outcomes(batches.size(), Outcomes{std::vector<PublishOutcome>{}});
    std::vector<std::jthread> threads;
    threads.emplace_back([this] { EXPECT_TRUE(store_->publish(test::events(1))); });
    begun_.wait();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      threads.emplace_back([this, &batches, &outcomes, i] { outcomes[i] = store_->publish(batches[i]); });
      while (dynamic_cast<sqlite::SqliteStore&>(*store_).publishers_waiting() != i + 1) std::this_thread::yield();
    }
    if (before_the_commit_) before_the_commit_();
    go_on_.count_down();
    threads.clear();
    return outcomes;
  }

  test::TempDir folder_;
  test::WatchedLog log_;
  std::string path_ = folder_.file("store.db");
  std::function<void()> before_the_commit_;
  std::function<void()> in_the_second_;
  std::atomic<int> commits_ = 0;
  std::unique_ptr<Store> store_;

 private:
  // Each commit asks for the time once; the first is held there until the others wait.
  Timestamp now() {
    if (watching_) {
      const int commit = ++commits_;
      if (commit == 1) {
        begun_.count_down();
        go_on_.wait();
      }
      if (commit == 2 && in_the_second_) in_the_second_();
    }
    return test::wall_clock();
  }

  std::atomic<bool> watching_ = false;
  std::latch begun_{1};
  std::latch go_on_{1};
};

TEST_F(SqlitePublishTogether, OneCommitForAllWhoWait) {
  const std::vector batches{test::events(1), test::events(3), test::events(1)};
  std::atomic<int> syncs = 0;
  before_the_commit_ = [&] { log_.synced = [&] { ++syncs; }; };
  const auto outcomes = publish_together(batches);
  log_.synced = nullptr;  // closing the store syncs once more, when the counter is gone
  EXPECT_EQ(commits_, 2);
  EXPECT_EQ(syncs, 2);
  EXPECT_THAT(*outcomes[0], ElementsAre(PublishOutcome::published));
  EXPECT_THAT(*outcomes[1],
              ElementsAre(PublishOutcome::published, PublishOutcome::published, PublishOutcome::published));
  for (const auto& batch : batches) {
    for (const NewEvent& event : batch) EXPECT_TRUE(stored(event));
  }
}

TEST_F(SqlitePublishTogether, TheSameEventIsPublishedByTheFirstAndADuplicateForTheOther) {
  const auto batch = test::events(1);
  const auto outcomes = publish_together({batch, batch});
  EXPECT_THAT(*outcomes[0], ElementsAre(PublishOutcome::published));
  EXPECT_THAT(*outcomes[1], ElementsAre(PublishOutcome::duplicate));
}

TEST_F(SqlitePublishTogether, ARefusedCallTakesNoOtherDownAndLeavesNothingBehind) {
  std::vector batches{test::events(1), test::events(1), test::events(2), test::events(1)};
  batches[1][0].channel = std::string(64, 'x');
  batches[2][1].channel = std::string(64, 'x');
  const auto outcomes = publish_together(batches);
  EXPECT_EQ(commits_, 2);
  EXPECT_TRUE(outcomes[0]);
  EXPECT_TRUE(outcomes[3]);
  for (const std::size_t refused : {1U, 2U}) {
    ASSERT_FALSE(outcomes[refused]);
    EXPECT_EQ(outcomes[refused].error().code, ErrorCode::invalid);
    EXPECT_THAT(outcomes[refused].error().message, HasSubstr("channel must have 1 to 63 bytes"));
  }
  EXPECT_THAT(outcomes[2].error().message, HasSubstr(batches[2][1].envelope.event_id().to_string()));
  EXPECT_TRUE(stored(batches[0][0]));
  EXPECT_FALSE(stored(batches[1][0]));
  EXPECT_FALSE(stored(batches[2][0]));
  EXPECT_TRUE(stored(batches[3][0]));
}

TEST_F(SqlitePublishTogether, ACommitThatFailsIsEveryCallersError) {
  std::vector batches{test::events(1), test::events(1), test::events(2)};
  batches[1][0].channel = std::string(64, 'x');
  in_the_second_ = [this] { log_.refuse_writes = true; };
  const auto outcomes = publish_together(batches);
  for (const std::size_t failed : {0U, 2U}) {
    ASSERT_FALSE(outcomes[failed]);
    EXPECT_EQ(outcomes[failed].error().code, ErrorCode::unavailable);
    EXPECT_EQ(outcomes[failed].error().retry, Retry::safe);
  }
  ASSERT_FALSE(outcomes[1]);
  EXPECT_EQ(outcomes[1].error().code, ErrorCode::invalid) << "its own";
  log_.refuse_writes = false;
  EXPECT_FALSE(stored(batches[0][0]));
  EXPECT_THAT(*store_->publish(batches[2]), ElementsAre(PublishOutcome::published, PublishOutcome::published));
}

TEST(SqlitePublishStress, ManyPublishersEachGetTheirOwnAnswer) {
  constexpr int kThreads = 6;
  constexpr int kCallsEach = 40;
  const test::TempDir folder;
  const auto store = open_sqlite({.path = folder.file("store.db")}).value();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kCallsEach; ++i) {
          auto batch = test::events(1 + i % 3);
          const bool bad = (i + thread) % 5 == 0;
          if (bad) batch.back().channel = std::string(64, 'x');
          const auto outcomes = store->publish(batch);
          if (outcomes.has_value() == bad) ++wrong;
          for (const NewEvent& event : batch) {
            if (store->get_event(event.envelope.event_id()).has_value() == bad) ++wrong;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sluice::store
