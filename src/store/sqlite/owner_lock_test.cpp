#include "store/sqlite/owner_lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store::sqlite {
namespace {

constexpr std::uintmax_t kMebibyte = 1024 * 1024;

TEST(OwnerLock, OneAtATimeAndFreeAfterwards) {
  const test::TempDir folder;
  std::optional<OwnerLock> first{folder.file("a.db")};
  OwnerLock second{folder.file("a.db")};
  EXPECT_TRUE(first->try_acquire());
  EXPECT_FALSE(second.try_acquire());
  EXPECT_FALSE(second.held());
  first.reset();
  EXPECT_TRUE(second.try_acquire());
  EXPECT_TRUE(second.held());
}

TEST(OwnerLock, EachFileHasItsOwn) {
  const test::TempDir folder;
  OwnerLock first{folder.file("a.db")};
  OwnerLock second{folder.file("b.db")};
  EXPECT_TRUE(first.try_acquire());
  EXPECT_TRUE(second.try_acquire());
}

TEST(OwnerLock, WithoutAFolderThereIsNoOwner) {
  OwnerLock nowhere{"/nonexistent/folder/a.db"};
  EXPECT_FALSE(nowhere.try_acquire());
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

TEST_F(Checkpoints, TheOwnerKeepsTheLogShort) {
  const auto owner = open();
  publish_mebibytes(*owner, 24);
  EXPECT_LT(log_size(), 12 * kMebibyte);
}

TEST_F(Checkpoints, ASecondStoreLeavesTheLogToTheOwner) {
  const auto owner = open();
  const auto second = open();
  publish_mebibytes(*second, 24);
  EXPECT_GT(log_size(), 20 * kMebibyte);
}

TEST_F(Checkpoints, WhoOutlivesTheOwnerTakesOver) {
  auto owner = open();
  const auto second = open();
  owner.reset();
  for (int n = 0; n < 70; ++n) ASSERT_TRUE(second->publish(test::events(1)));
  publish_mebibytes(*second, 24);
  EXPECT_LT(log_size(), 12 * kMebibyte);
}

}  // namespace
}  // namespace sluice::store::sqlite
