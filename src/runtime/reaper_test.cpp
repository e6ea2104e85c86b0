#include "runtime/reaper.hpp"

#include "runtime/runtime_fixture.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class ReaperTest : public testing::Test {
 protected:
  ReaperTest() { options.retry.jitter = Jitter::none; }

  StepReport step(int limit = 100) {
    const auto report = Reaper{*store, *store, {}, options}.step(limit);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : StepReport{};
  }

  void claim_all() {
    store::ClaimRequest request;
    request.worker = "gone:1";
    request.limit = 100;
    ASSERT_TRUE(store->claim(request));
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  ReaperOptions options{{}, [] { return 0.5; }};
};

TEST_F(ReaperTest, LeavesLiveClaimsAlone) {
  store.publish(test::events(2));
  claim_all();
  clock.advance(299s);
  EXPECT_EQ(step().claimed, 0);
}

TEST_F(ReaperTest, AnExpiredClaimIsPendingAgainAndCounted) {
  const auto ids = store.publish(test::events(2));
  claim_all();
  clock.advance(301s);
  const StepReport report = step();
  EXPECT_EQ(report.claimed, 2);
  EXPECT_EQ(report.retried, 2);
  const auto event = store.event(ids[0]);
  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.attempts, 1);
  EXPECT_EQ(event.last_error, "ClaimExpired: claim expired");
  EXPECT_EQ(event.retry_after, clock.now() + 1s);
  EXPECT_EQ(step().claimed, 0);
}

TEST_F(ReaperTest, TheFifthExpiryFails) {
  const auto ids = store.publish(test::events(1));
  for (int cycle = 1; cycle <= 4; ++cycle) {
    claim_all();
    clock.advance(301s);
    EXPECT_EQ(step().retried, 1);
    clock.advance(300s);
  }
  claim_all();
  clock.advance(301s);
  EXPECT_EQ(step().failed, 1);
  EXPECT_EQ(store.event(ids[0]).status, Status::failed);
}

TEST_F(ReaperTest, TheLimitBoundsAStep) {
  store.publish(test::events(5));
  claim_all();
  clock.advance(301s);
  EXPECT_EQ(step(3).claimed, 3);
  EXPECT_EQ(step(3).claimed, 2);
}

TEST_F(ReaperTest, TwoReapersCountAnAttemptOnce) {
  const auto ids = store.publish(test::events(1));
  claim_all();
  clock.advance(301s);
  // The second reaper works between the first one's look and its settle.
  class Between final : public store::Maintaining {
   public:
    Between(store::Maintaining& inner, std::function<void()> then) : inner_(inner), then_(std::move(then)) {}
    Result<std::vector<store::ExpiredClaim>> expired_claims(int limit) override {
      auto found = inner_.expired_claims(limit);
      then_();
      return found;
    }
    Result<std::vector<store::ExpiredClaim>> claims_held_by(const std::string& identity, int limit) override {
      return inner_.claims_held_by(identity, limit);
    }
    using Maintaining::sweep_retention;
    Result<store::RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                   const store::Actor& actor) override {
      return inner_.sweep_retention(policies, limit, dry_run, actor);
    }

   private:
    store::Maintaining& inner_;
    std::function<void()> then_;
  };
  Between between{*store, [&] { EXPECT_EQ(step().retried, 1); }};
  const auto report = Reaper{between, *store, {}, options}.step(100);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->fenced, 1);
  EXPECT_EQ(report->retried, 0);
  EXPECT_EQ(store.event(ids[0]).attempts, 1);
}

TEST_F(ReaperTest, AnErrorOfTheStoreIsReturned) {
  store.publish(test::events(1));
  claim_all();
  clock.advance(301s);
  test::FaultyStore faulty{*store};
  Reaper reaper{faulty, faulty, {}, options};
  faulty.fail_call(1, test::Fault::before);
  EXPECT_FALSE(reaper.step(100));
  faulty.fail_call(2, test::Fault::before);
  EXPECT_FALSE(reaper.step(100));
  const auto report = reaper.step(100);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->retried, 1);
}

}  // namespace
}  // namespace sluice::runtime
