// The file among processes: killed ones, concurrent ones, and ones that may not write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <set>

#include "store/sqlite/connection.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

constexpr uid_t kNobody = 65534;

/// A child process and the pipe on which it reports.
class Child {
 public:
  /// `work` gets the descriptor to write to; its value is the exit status.
  explicit Child(const std::function<int(int)>& work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe failed");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      ::_exit(work(ends[1]));
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  ~Child() {
    ::close(pipe_);
    if (!waited_) {
      kill();
      wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The next id that the child reported; none when it is gone.
  std::optional<Uuid> next() const {
    Uuid id;
    const ssize_t got = ::read(pipe_, id.bytes.data(), id.bytes.size());
    return got == static_cast<ssize_t>(id.bytes.size()) ? std::optional{id} : std::nullopt;
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    waited_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  bool waited_ = false;
};

bool report(int pipe, const Uuid& id) {
  return ::write(pipe, id.bytes.data(), id.bytes.size()) == static_cast<ssize_t>(id.bytes.size());
}

class SqliteProcessTest : public testing::Test {
 protected:
  SqliteOptions options() const {
    SqliteOptions made;
    made.path = path_;
    return made;
  }
  std::unique_ptr<Store> open() const {
    auto opened = open_sqlite(options());
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  std::string integrity() const {
    constexpr sqlite::sql::Query check{"integrity_check", "pragma integrity_check"};
    auto connection = sqlite::Connection::open({path_, false, std::chrono::seconds{10}});
    return (*connection)->first(check, {}, [](sqlite::Row& row) { return row.text(); })->value_or("nothing");
  }
  /// Publishes one event after the other until a publish fails, reporting each once acknowledged.
  int publish_until_it_fails(int pipe, ErrorCode expected) const {
    const auto store = open();
    for (;;) {
      EnvelopeDraft draft = test::a_draft();
      draft.payload = R"({"pad":")" + std::string(4000, 'p') + R"("})";
      const NewEvent event = test::an_event(draft);
      const auto published = store->publish(std::span{&event, 1});
      if (!published) return published.error().code == expected && published.error().retry == Retry::safe ? 0 : 1;
      if (!report(pipe, event.envelope.event_id())) return 2;
    }
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqliteProcessTest, AKilledPublisherLosesNothingThatWasAcknowledged) {
  std::set<Uuid> acknowledged;
  for (int round = 0; round < 3; ++round) {
    Child child{[this](int pipe) { return publish_until_it_fails(pipe, ErrorCode::internal); }};
    for (int n = 0; n < 60; ++n) {
      const auto id = child.next();
      ASSERT_TRUE(id);
      acknowledged.insert(*id);
    }
    child.kill();
    while (const auto id = child.next()) acknowledged.insert(*id);
    child.wait();

    const auto store = open();
    for (const Uuid& id : acknowledged) EXPECT_TRUE(store->get_event(id)) << id.to_string();
    EXPECT_EQ(integrity(), "ok");
  }
  EXPECT_GE(acknowledged.size(), 180U);
}

TEST_F(SqliteProcessTest, AKilledWorkersEventsExpireAndAreClaimedAgain) {
  const auto store = open();
  const auto batch = test::events(5);
  ASSERT_TRUE(store->publish(batch));
  Child worker{[this](int pipe) {
    const auto mine = open();
    ClaimRequest request;
    request.worker = "doomed";
    request.ttl = Duration::zero();
    const auto claimed = mine->claim(request);
    if (!claimed) return 1;
    for (const ClaimedEvent& event : *claimed) report(pipe, event.envelope.event_id());
    ::raise(SIGKILL);
    return 0;
  }};
  for (int n = 0; n < 5; ++n) EXPECT_TRUE(worker.next());
  worker.wait();
  const auto expired = store->expired_claims(10);
  ASSERT_TRUE(expired);
  EXPECT_EQ(expired->size(), 5U);
  EXPECT_EQ(expired->front().worker, "doomed");
}

TEST_F(SqliteProcessTest, ManyProcessesMayCreateTheSameFileAtOnce) {
  constexpr int kProcesses = 12;
  {
    std::vector<std::unique_ptr<Child>> children;
    for (int n = 0; n < kProcesses; ++n) {
      children.push_back(std::make_unique<Child>([this](int) {
        const auto store = open_sqlite(options());
        if (!store) return 1;
        return (*store)->publish(test::events(1)) ? 0 : 2;
      }));
    }
    for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  }
  EXPECT_EQ(open()->status()->counts.at(0).count, kProcesses);
  EXPECT_EQ(integrity(), "ok");
}

TEST_F(SqliteProcessTest, OneProcessPublishesWhileAnotherDelivers) {
  const auto store = open();
  Child publisher{[this](int pipe) {
    const auto mine = open();
    for (int n = 0; n < 100; ++n) {
      const NewEvent event = test::an_event();
      if (!mine->publish(std::span{&event, 1})) return 1;
      report(pipe, event.envelope.event_id());
    }
    return 0;
  }};
  std::set<Uuid> published;
  std::set<Uuid> delivered;
  while (const auto id = publisher.next()) {
    published.insert(*id);
    ClaimRequest request;
    request.worker = "w";
    const auto claimed = store->claim(request);
    ASSERT_TRUE(claimed) << claimed.error().message;
    for (const ClaimedEvent& event : *claimed) {
      SettleItem item;
      item.claim = event.claim;
      ASSERT_EQ(store->settle(std::span{&item, 1})->settled, 1);
      EXPECT_TRUE(delivered.insert(event.envelope.event_id()).second);
    }
  }
  EXPECT_EQ(publisher.wait(), 0);
  EXPECT_EQ(published.size(), 100U);
  EXPECT_EQ(delivered, published);
  EXPECT_EQ(integrity(), "ok");
}

TEST_F(SqliteProcessTest, AListenerHearsThePublishOfAnotherProcess) {
  const auto store = open();
  const auto opened = store->listen({"outbox_gen_1"});
  ASSERT_TRUE(opened) << opened.error().message;
  Child publisher{[this](int) { return open()->publish(test::events(1)) ? 0 : 1; }};
  const auto heard = (*opened)->wait(std::chrono::minutes{1});
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(*heard, Heard::notification);
  EXPECT_EQ(publisher.wait(), 0);
}

TEST_F(SqliteProcessTest, AKilledEffectLeavesNothingBehind) {
  const auto store = open();
  const auto batch = test::events(1);
  ASSERT_TRUE(store->publish(batch));
  Child worker{[this](int pipe) {
    const auto mine = open();
    ClaimRequest request;
    request.worker = "doomed";
    const auto claimed = mine->claim(request);
    if (!claimed || claimed->size() != 1) return 1;
    const EventEnvelope& envelope = claimed->front().envelope;
    auto effect = mine->begin_effect(std::chrono::minutes{1});
    const EffectTransaction::Entry entry{claimed->front().claim, envelope.idempotency_key()};
    if (!effect || !(*effect)->enter("tests.counter", std::span{&entry, 1})) return 2;
    SettleItem item;
    item.claim = entry.claim;
    if (!(*effect)->settle(std::span{&item, 1}, std::nullopt)) return 3;
    report(pipe, envelope.event_id());
    ::raise(SIGKILL);
    return 0;
  }};
  ASSERT_TRUE(worker.next());
  worker.wait();
  const auto event = store->get_event(batch[0].envelope.event_id());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->status, Status::in_flight);
  EXPECT_THAT(*store->handled(*event), testing::IsEmpty());
  EXPECT_EQ(integrity(), "ok");
}

TEST_F(SqliteProcessTest, AFullDiskLosesNothingAndLeavesNothingHalfWritten) {
  Child child{[this](int pipe) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1024 * 1024, 1024 * 1024};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return publish_until_it_fails(pipe, ErrorCode::exhausted);
  }};
  std::set<Uuid> acknowledged;
  while (const auto id = child.next()) acknowledged.insert(*id);
  EXPECT_EQ(child.wait(), 0) << "a full disk must be reported as out of space and safe to retry";
  EXPECT_GE(acknowledged.size(), 10U);
  const auto store = open();
  EXPECT_EQ(store->status()->counts.at(0).count, static_cast<std::int64_t>(acknowledged.size()));
  for (const Uuid& id : acknowledged) EXPECT_TRUE(store->get_event(id));
  EXPECT_EQ(integrity(), "ok");
  EXPECT_TRUE(store->publish(test::events(1))) << "with space again, work goes on";
}

TEST_F(SqliteProcessTest, AFileThatMayNotBeWrittenIsReadOnly) {
  open()->publish(test::events(1)).value();
  std::filesystem::permissions(path_, std::filesystem::perms{0444});
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0555});
  Child reader{[this](int) {
    // Root may write anything; then somebody else has to try.
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 2;
    const auto refused = open_sqlite(options());
    if (refused) return 3;
    if (refused.error().code != ErrorCode::read_only || refused.error().retry != Retry::never) return 4;
    return refused.error().message == path_ + " cannot be written: the file or its folder is read-only" ? 0 : 5;
  }};
  EXPECT_EQ(reader.wait(), 0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
}

TEST_F(SqliteProcessTest, AFolderThatMayNotBeWrittenSaysWhy) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0555});
  Child creator{[this](int) {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 2;
    const auto refused = open_sqlite(options());
    if (refused) return 3;
    return refused.error().message == "cannot create " + path_ + ": Permission denied" ? 0 : 4;
  }};
  EXPECT_EQ(creator.wait(), 0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
}

}  // namespace
}  // namespace sluice::store
