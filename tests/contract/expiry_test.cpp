#include <future>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

SLUICE_CONTRACT(ExpiryContract);

SettleItem reap(const store::ExpiredClaim& expired, const RetryPolicy& policy) {
  SettleItem item;
  item.claim = expired.claim;
  item.settlement = settle(expired.attempts, Outcome::expired(), policy, 0.5);
  return item;
}

TEST_P(ExpiryContract, AFreshClaimIsNotExpired) {
  publish();
  claim();
  EXPECT_THAT(must(store().expired_claims(10)), IsEmpty());
  age(299s);
  EXPECT_THAT(must(store().expired_claims(10)), IsEmpty());
}

TEST_P(ExpiryContract, AClaimExpiresAfterItsOwnTtl) {
  const Uuid id = publish();
  ClaimRequest request = request_for("w1");
  request.ttl = 30s;
  claim(request);
  age(31s);
  const auto expired = must(store().expired_claims(10));
  ASSERT_THAT(expired, SizeIs(1));
  EXPECT_EQ(expired[0].claim.event_id, id);
  EXPECT_EQ(expired[0].claim.claim_seq, 1);
  EXPECT_EQ(expired[0].worker, "w1");
  EXPECT_EQ(expired[0].attempts, 0);
}

TEST_P(ExpiryContract, SettledClaimsDoNotExpire) {
  publish(events(3));
  const auto claimed = claim();
  deliver(claimed[0]);
  settle(claimed[1], Outcome::failed(timeout_failure()), minute_retries());
  settle(claimed[2], Outcome::failed(terminal_failure()));
  age(1h);
  EXPECT_THAT(must(store().expired_claims(10)), IsEmpty());
}

TEST_P(ExpiryContract, AnExpiredClaimCountsAnAttempt) {
  const Uuid id = publish();
  claim();
  age(301s);
  const auto expired = must(store().expired_claims(10));
  EXPECT_EQ(must(store().settle(std::vector{reap(expired.at(0), minute_retries())})).settled, 1);
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.last_error, "ClaimExpired: claim expired");
  EXPECT_THAT(must(store().expired_claims(10)), IsEmpty());
}

TEST_P(ExpiryContract, TheLastExpiredClaimFailsAndAttemptsStayWithinTheMaximum) {
  const Uuid id = publish();
  for (int round = 0; round < 6; ++round) {
    claim();
    age(400s);
    for (const auto& expired : must(store().expired_claims(10))) {
      must(store().settle(std::vector{reap(expired, minute_retries(3))}));
    }
    age(61s);
    EXPECT_LE(event(id).attempts, 3);
  }
  EXPECT_EQ(event(id).status, Status::failed);
  EXPECT_EQ(event(id).attempts, 3);
}

TEST_P(ExpiryContract, AtMostTheLimit) {
  publish(events(5));
  claim();
  age(301s);
  EXPECT_THAT(must(store().expired_claims(2)), SizeIs(2));
  EXPECT_THAT(must(store().expired_claims(10)), SizeIs(5));
}

TEST_P(ExpiryContract, ManyReapersCountOnce) {
  const auto published = publish(events(50));
  claim(50);
  age(301s);
  const auto reaper = [this] {
    int settled = 0;
    for (const auto& expired : must(store().expired_claims(100))) {
      settled += must(store().settle(std::vector{reap(expired, minute_retries())})).settled;
    }
    return settled;
  };
  std::vector<std::future<int>> reapers;
  for (int n = 0; n < 4; ++n) reapers.push_back(std::async(std::launch::async, reaper));
  int settled = 0;
  for (auto& each : reapers) settled += each.get();
  EXPECT_EQ(settled, 50);
  for (const Uuid& id : published) EXPECT_EQ(event(id).attempts, 1);
}

TEST_P(ExpiryContract, AHeartbeatKeepsTheClaim) {
  publish();
  const ClaimedEvent claimed = claim_one();
  for (int beat = 0; beat < 3; ++beat) {
    age(200s);
    EXPECT_THAT(must(store().heartbeat(std::vector{claimed.claim}, 300s)), IsEmpty());
  }
  EXPECT_THAT(must(store().expired_claims(10)), IsEmpty());
  EXPECT_EQ(deliver(claimed).settled, 1);
}

TEST_P(ExpiryContract, AHeartbeatKeepsOnlyWhatItNames) {
  const auto published = publish(events(3));
  const auto claimed = claim();
  age(200s);
  EXPECT_THAT(must(store().heartbeat(std::vector{claimed[1].claim}, 300s)), IsEmpty());
  age(200s);
  std::vector<Uuid> expired;
  for (const auto& each : must(store().expired_claims(10))) expired.push_back(each.claim.event_id);
  EXPECT_THAT(expired, UnorderedElementsAreArray({published[0], published[2]}));
}

TEST_P(ExpiryContract, AHeartbeatAfterTheExpiryStillSavesAnUnreapedClaim) {
  publish();
  const ClaimedEvent claimed = claim_one();
  age(301s);
  EXPECT_THAT(must(store().heartbeat(std::vector{claimed.claim}, 300s)), IsEmpty());
  EXPECT_THAT(must(store().expired_claims(10)), IsEmpty());
}

TEST_P(ExpiryContract, AHeartbeatTellsOfALostClaim) {
  const Uuid id = publish();
  const ClaimedEvent claimed = claim_one();
  age(301s);
  must(store().settle(std::vector{reap(must(store().expired_claims(10)).at(0), minute_retries())}));
  EXPECT_THAT(must(store().heartbeat(std::vector{claimed.claim}, 300s)), ElementsAre(id));
}

TEST_P(ExpiryContract, AStaleHeartbeatDoesNotProlongTheNewClaim) {
  const Uuid id = publish();
  const ClaimedEvent stale = claim_one();
  settle(stale, Outcome::released());
  claim_one();
  age(200s);
  EXPECT_THAT(must(store().heartbeat(std::vector{stale.claim}, 300s)), ElementsAre(id));
  age(101s);
  EXPECT_THAT(must(store().expired_claims(10)), SizeIs(1));
}

TEST_P(ExpiryContract, AStaleHeartbeatWithOnlyIdAndTokenProlongsNothing) {
  const Uuid id = publish();
  const ClaimedEvent stale = claim_one();
  settle(stale, Outcome::released());
  claim_one();
  age(200s);
  const store::ClaimRef bare{id, stale.claim.claim_seq, 0, 0};
  EXPECT_THAT(must(store().heartbeat(std::vector{bare}, 300s)), ElementsAre(id));
  age(101s);
  EXPECT_THAT(must(store().expired_claims(10)), SizeIs(1));
}

TEST_P(ExpiryContract, NoClaimsNoHeartbeat) { EXPECT_THAT(must(store().heartbeat({}, 300s)), IsEmpty()); }

TEST_P(ExpiryContract, WhatAProcessHoldsIsFoundByItsName) {
  publish(events(4));
  ClaimRequest request = request_for("host:1");
  request.limit = 1;
  const auto own = claim(request);
  request.worker = "host:1/0";
  const auto of_its_thread = claim(request);
  request.worker = "host:11/0";
  claim(request);
  request.worker = "host";
  claim(request);
  const auto held = must(store().claims_held_by("host:1", 10));
  std::vector<Uuid> found;
  for (const auto& each : held) found.push_back(each.claim.event_id);
  EXPECT_THAT(found, testing::UnorderedElementsAre(own.at(0).claim.event_id, of_its_thread.at(0).claim.event_id));
  EXPECT_THAT(must(store().claims_held_by("host:1", 1)), SizeIs(1));
  EXPECT_THAT(must(store().claims_held_by("nobody", 10)), IsEmpty());
}

TEST_P(ExpiryContract, WhatAProcessHeldCanBeTakenBackAtOnce) {
  const Uuid id = publish();
  const auto claimed = claim(request_for("host:1/0"));
  const auto held = must(store().claims_held_by("host:1", 10));
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_EQ(must(store().settle(std::vector{reap(held[0], minute_retries())})).settled, 1);
  EXPECT_EQ(event(id).attempts, 1);
  EXPECT_EQ(event(id).last_error, "ClaimExpired: claim expired");
  EXPECT_THAT(must(store().claims_held_by("host:1", 10)), IsEmpty());
  EXPECT_EQ(deliver(claimed.at(0)).fenced.size(), 1U) << "the old claim is worth nothing any more";
}

}  // namespace
}  // namespace sluice::contract
