#include "store/sqlite/checkpoint_lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store::sqlite {
namespace {

constexpr std::uintmax_t kMebibyte = 1024 * 1024;

TEST(CheckpointLock, WritersShareItAndACheckpointHasItAlone) {
  const test::TempDir folder;
  CheckpointLock first{folder.file("a.db")};
  CheckpointLock second{folder.file("a.db")};
  EXPECT_TRUE(first.share(Duration::zero()));
  EXPECT_TRUE(second.share(Duration::zero()));
  EXPECT_FALSE(second.try_alone());
  first.release();
  EXPECT_TRUE(second.try_alone());
  EXPECT_FALSE(first.share(Duration::zero())) << "a checkpoint is under way";
  EXPECT_FALSE(first.try_alone());
  second.release();
  EXPECT_TRUE(first.try_alone());
}

TEST(CheckpointLock, AWriterWaitsForTheCheckpoint) {
  const test::TempDir folder;
  auto first = std::make_optional<CheckpointLock>(folder.file("a.db"));
  CheckpointLock second{folder.file("a.db")};
  ASSERT_TRUE(first->try_alone());
  std::jthread checkpoint{[&] { first.reset(); }};
  EXPECT_TRUE(second.share(std::chrono::hours{1}));
}

TEST(CheckpointLock, EachFileHasItsOwn) {
  const test::TempDir folder;
  CheckpointLock first{folder.file("a.db")};
  CheckpointLock second{folder.file("b.db")};
  EXPECT_TRUE(first.try_alone());
  EXPECT_TRUE(second.try_alone());
}

TEST(CheckpointLock, WithoutAFolderNobodyCheckpointsAndEverybodyWrites) {
  CheckpointLock nowhere{"/nonexistent/folder/a.db"};
  EXPECT_FALSE(nowhere.try_alone());
  EXPECT_TRUE(nowhere.share(Duration::zero()));
}

class Checkpoints : public testing::Test {
 protected:
  std::unique_ptr<Store> open() {
    SqliteOptions options;
    options.path = path_;
    auto opened = open_sqlite(options);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }

  static void publish_mebibytes(Store& store, int count) {
    for (int n = 0; n < count; ++n) {
      std::vector<NewEvent> batch;
      for (int part = 0; part < 8; ++part) {
        EnvelopeDraft draft = test::a_draft();
        draft.payload = R"({"pad":")" + std::string(128 * 1024, 'p') + R"("})";
        batch.push_back(test::an_event(draft));
      }
      ASSERT_TRUE(store.publish(batch));
    }
  }

  [[nodiscard]] std::uintmax_t log_size() const { return std::filesystem::file_size(path_ + "-wal"); }

  test::TempDir folder_;
  std::string path_ = folder_.file("a.db");
};

TEST_F(Checkpoints, WhoWritesKeepsTheLogShort) {
  const auto store = open();
  publish_mebibytes(*store, 24);
  EXPECT_LT(log_size(), 12 * kMebibyte);
}

// `sluice tail` before `sluice serve`: who came first only reads.
TEST_F(Checkpoints, AReaderThatCameFirstDoesNotLetTheLogGrow) {
  const auto reader = open();
  ASSERT_TRUE(reader->list_events({}, 10, {}));
  const auto writer = open();
  publish_mebibytes(*writer, 24);
  ASSERT_TRUE(reader->list_events({}, 1, {}));
  EXPECT_LT(log_size(), 12 * kMebibyte);
}

TEST_F(Checkpoints, WritersTakeTurns) {
  const auto first = open();
  const auto second = open();
  for (int round = 0; round < 6; ++round) {
    publish_mebibytes(*first, 2);
    publish_mebibytes(*second, 2);
  }
  EXPECT_LT(log_size(), 12 * kMebibyte);
}

TEST_F(Checkpoints, NobodyCheckpointsWhileAnotherWrites) {
  const auto first = open();
  const auto second = open();
  CheckpointLock somebody{path_};
  ASSERT_TRUE(somebody.share(Duration::zero()));
  publish_mebibytes(*second, 24);
  EXPECT_GT(log_size(), 20 * kMebibyte);
  somebody.release();
  publish_mebibytes(*first, 1);
  publish_mebibytes(*second, 8);
  EXPECT_LT(log_size(), 30 * kMebibyte) << "written from its beginning again";
}

TEST_F(Checkpoints, TheLastToCloseLeavesNoLog) {
  auto first = open();
  auto second = open();
  publish_mebibytes(*second, 1);
  second.reset();
  EXPECT_TRUE(std::filesystem::exists(path_ + "-wal"));
  first.reset();
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(Checkpoints, AFileThatWasReplacedIsNoticed) {
  const auto store = open();
  ASSERT_TRUE(store->registry(1));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  const auto gone = store->registry(1);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("was removed or replaced"), std::string::npos);
  const auto anew = open();
  EXPECT_FALSE(store->registry(1));
  EXPECT_TRUE(anew->registry(1));
}

}  // namespace
}  // namespace sluice::store::sqlite
