#include "runtime/reaper.hpp"

#include "host/identity.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kAlive = 10;
constexpr std::int64_t kDead = 11;

std::string identity(std::int64_t pid, const std::string& host = "web-1", const std::string& machine = "5eedf00d") {
  return host::worker_identity({host, pid, Timestamp{}, 7, machine});
}

class Orphans : public testing::Test {
 protected:
  Uuid held_by(const std::string& worker) {
    const Uuid id = store.publish(test::events(1)).front();
    EXPECT_TRUE(store->announce({worker, kFirstGeneration, {"sluice.log"}, "listening", {}, {}}));
    EXPECT_EQ(store->claim({.worker = worker + "/0", .limit = 10})->size(), 1U);
    return id;
  }
  Result<StepReport> take_back(store::Store& from) {
    Reaper reaper{from, from, from, {}, {without_jitter(), [] { return 0.5; }}};
    return take_back_orphans(from, machine, reaper, {});
  }
  std::vector<std::string> workers() {
    std::vector<std::string> names;
    const auto alive = store->workers(1h);
    for (const auto& worker : *alive) names.push_back(worker.identity);
    return names;
  }

  TestStore store;
  Machine machine{identity(1), [](std::int64_t pid) { return pid == kDead; }};
};

TEST_F(Orphans, OnlyAProcessOfThisProcessTableCanBeSaidToBeGone) {
  EXPECT_TRUE(provably_gone(identity(kDead), machine));
  EXPECT_FALSE(provably_gone(identity(kAlive), machine));
  EXPECT_FALSE(provably_gone(identity(kDead, "web-2"), machine));
  EXPECT_FALSE(provably_gone(identity(kDead, "web-1", "0badcafe"), machine));
  EXPECT_FALSE(provably_gone(identity(kDead, "web-1", ""), machine));
  EXPECT_FALSE(provably_gone("pull:billing.mailer:w1", machine));
  EXPECT_FALSE(provably_gone(identity(kDead), {identity(1, "web-1", ""), machine.is_gone}));
}

TEST_F(Orphans, WhatAKilledProcessHeldIsTakenBackAtOnceAndCounted) {
  const Uuid orphan = held_by(identity(kDead));
  const auto report = take_back(*store);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->retried, 1);
  EXPECT_EQ(store.event(orphan).status, Status::pending);
  EXPECT_EQ(store.event(orphan).attempts, 1);
  EXPECT_EQ(store.event(orphan).last_error, "ClaimExpired: claim expired");
  EXPECT_TRUE(workers().empty());
  EXPECT_EQ(take_back(*store)->claimed, 0);
}

TEST_F(Orphans, WhatOthersHoldIsTheirs) {
  const Uuid alive = held_by(identity(kAlive));
  const Uuid elsewhere = held_by(identity(kDead, "web-2"));
  EXPECT_EQ(take_back(*store)->claimed, 0);
  EXPECT_EQ(store.event(alive).status, Status::in_flight);
  EXPECT_EQ(store.event(elsewhere).status, Status::in_flight);
  EXPECT_EQ(workers().size(), 2U);
}

TEST_F(Orphans, AfterAnErrorAnywhereTheNextCallDoesTheRest) {
  for (int n = 1; n <= 4; ++n) {
    const Uuid orphan = held_by(identity(kDead));
    test::FaultyStore faulty{*store};
    faulty.fail_call(n, test::Fault::before);
    EXPECT_FALSE(take_back(faulty)) << n;
    ASSERT_TRUE(take_back(*store)) << n;
    EXPECT_EQ(store.event(orphan).status, Status::pending) << n;
    EXPECT_TRUE(workers().empty()) << n;
  }
}

}  // namespace
}  // namespace sluice::runtime
