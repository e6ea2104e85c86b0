#include "host/identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <limits>

#include "host/entropy.hpp"

namespace sluice::host {
namespace {

TEST(WorkerIdentity, IsReadable) {
  EXPECT_EQ(worker_identity({"web-1", 4711, *parse_iso8601("2026-04-25T01:43:02.5Z"), 0x0BADCAFE}),
            "web-1:4711:20260425T014302:0badcafe");
}

TEST(WorkerIdentity, EndsInTheMarkOfItsMachine) {
  const std::string identity =
      worker_identity({"web-1", 4711, *parse_iso8601("2026-04-25T01:43:02.5Z"), 0x0BADCAFE, "5eedf00d"});
  EXPECT_EQ(identity, "web-1:4711:20260425T014302:0badcafe:5eedf00d");
  const auto named = process_named(identity);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->host, "web-1");
  EXPECT_EQ(named->pid, 4711);
  EXPECT_EQ(named->machine, "5eedf00d");
}

TEST(WorkerIdentity, WithoutAMachineNamesNoProcessThatCouldBeLookedFor) {
  for (const char* identity :
       {"", "web-1", "web-1:4711:20260425T014302:0badcafe", "web-1:x:20260425T014302:0badcafe:5eedf00d",
        "web-1:0:20260425T014302:0badcafe:5eedf00d", ":1:2:3:4", "a:1:2:3:", "a:1:2:3:4:5", "pull:billing.mailer:w1"}) {
    EXPECT_FALSE(process_named(identity)) << identity;
  }
}

TEST(WorkerIdentity, DiffersInEachPart) {
  const ProcessIdentity one{"a", 1, Timestamp{}, 1};
  ProcessIdentity other = one;
  other.host = "b";
  EXPECT_NE(worker_identity(one), worker_identity(other));
  other = one;
  other.pid = 2;
  EXPECT_NE(worker_identity(one), worker_identity(other));
  other = one;
  other.start += std::chrono::seconds{1};
  EXPECT_NE(worker_identity(one), worker_identity(other));
  other = one;
  other.random = 2;
  EXPECT_NE(worker_identity(one), worker_identity(other));
}

TEST(WorkerIdentity, IsPrintableAndBoundedWhateverTheHost) {
  const std::string identity =
      worker_identity({"a b\n:\xC3\xBC" + std::string(500, 'x'), std::numeric_limits<std::int64_t>::max(), Timestamp{},
                       0xFFFFFFFF, "5eedf00d"});
  EXPECT_LE(identity.size(), 120U);
  EXPECT_TRUE(std::all_of(identity.begin(), identity.end(), [](char c) { return c > ' ' && c < 0x7F; })) << identity;
  EXPECT_TRUE(worker_identity({"", 1, Timestamp{}, 1}).starts_with("localhost:1:"));
}

TEST(WorkerIdentity, OfThisProcessNamesItAndIsNewEachTime) {
  const auto named = process_named(fresh_identity());
  ASSERT_TRUE(named);
  EXPECT_EQ(named->pid, ::getpid());
  EXPECT_NE(fresh_identity(), fresh_identity());
  EXPECT_FALSE(process_is_gone(::getpid()));
  EXPECT_FALSE(user_name().empty());
}

TEST(WorkerIdentity, AProcessThatHasEndedIsGoneBeforeAndAfterItsParentHasLooked) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(process_is_gone(child));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(process_is_gone(child));
}

TEST(Entropy, TheSystemsClockAndBytesAreAlive) {
  const Entropy entropy = Entropy::system();
  EXPECT_GT(entropy.clock(), *parse_iso8601("2026-01-01T00:00:00Z"));
  EXPECT_NE(entropy.random(), entropy.random());
  EXPECT_NE(uniform01(), uniform01());
}

TEST(Entropy, AForkedProcessDrawsBytesOfItsOwn) {
  random_bytes();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto drawn = random_bytes();
    ::_exit(::write(ends[1], drawn.data(), drawn.size()) == static_cast<ssize_t>(drawn.size()) ? 0 : 1);
  }
  std::array<std::uint8_t, 10> theirs{};
  ASSERT_EQ(::read(ends[0], theirs.data(), theirs.size()), static_cast<ssize_t>(theirs.size()));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_NE(theirs, random_bytes());
  for (const int end : ends) ::close(end);
}

}  // namespace
}  // namespace sluice::host
