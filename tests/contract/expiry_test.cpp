#include <future>

#include "core/decide.hpp"
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

TEST_P(ExpiryContract, AnExpiredClaimTellsItsRoute) {
  EnvelopeDraft draft = test::a_draft("scan.completed");
  draft.target = "worlds";
  publish(an_event(draft));
  publish();
  claim(request_for("w1"));
  for (const auto& claims : {must(store().claims_held_by("w1", 10)), (age(301s), must(store().expired_claims(10)))}) {
    ASSERT_THAT(claims, SizeIs(2));
    for (const auto& one : claims) {
      const EventRecord known = event(one.claim.event_id);
      EXPECT_EQ(one.event_type, known.envelope.event_type());
      EXPECT_EQ(one.target, known.envelope.target());
      EXPECT_EQ(one.channel, known.channel);
    }
  }
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

// Two handlers, of which one is out of attempts; the claim for the other one expires.
TEST_P(ExpiryContract, WhatIsKnownOfEachHandlerOutlivesAnExpiry) {
  must(store().subscribe(1, std::vector{subscription("billing.meter"), subscription("worlds.indexer")}));
  const Uuid id = publish();
  const ClaimedEvent first = claim_one();
  SettleItem item = settle_item(first, Outcome::failed(terminal_failure()));
  item.settlement.next = Status::pending;
  item.settlement.cause = Cause::retry;
  HandlerProgress spent;
  spent.handler_name = "billing.meter";
  spent.attempts = 1;
  spent.due = first.claimed_at;
  spent.out_of_attempts = true;
  spent.last_error = item.settlement.last_error;
  spent.error_class = item.settlement.error_class;
  spent.fingerprint = item.settlement.fingerprint;
  HandlerProgress open;
  open.handler_name = "worlds.indexer";
  open.due = first.claimed_at;
  item.settlement.progress = {spent, open};
  must(store().settle(std::vector{item}));
  ClaimRequest request = request_for("w1");
  request.handlers = {"worlds.indexer"};
  ASSERT_THAT(claim(request), SizeIs(1));
  age(301s);

  const auto expired = must(store().expired_claims(10));
  ASSERT_THAT(expired, SizeIs(1));
  EXPECT_EQ(expired[0].generation, 1);
  EXPECT_EQ(expired[0].last_error, item.settlement.last_error);
  EXPECT_EQ(expired[0].error_class, item.settlement.error_class);
  EXPECT_EQ(expired[0].fingerprint, item.settlement.fingerprint);
  EXPECT_GE(expired[0].seen_at - expired[0].claimed_at, 301s);
  ASSERT_THAT(expired[0].progress, SizeIs(2));
  EXPECT_TRUE(expired[0].progress[0].out_of_attempts);
  const auto held = must(store().claims_held_by("w1", 10));
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_EQ(held[0].progress, expired[0].progress);
  EXPECT_EQ(held[0].last_error, expired[0].last_error);

  SettleItem taken_back;
  taken_back.claim = expired[0].claim;
  const HandlerNames hosted{"worlds.indexer"};
  const HandlerNames served{"worlds.indexer", "memory.reader"};
  std::vector<HandlerProgress> progress = expired[0].progress;
  progress.push_back(progress[1]);
  progress.back().handler_name = "memory.reader";
  const auto& was = expired[0];
  // clang-format off
  taken_back.settlement =
      expire({was.attempts, progress, was.last_error, was.error_class, was.fingerprint, {}, hosted, served,
              was.claimed_at, was.seen_at, 0.5},
             minute_retries(), [](const std::string&) { return minute_retries(); });
  // clang-format on
  EXPECT_EQ(must(store().settle(std::vector{taken_back})).settled, 1);
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.attempts, 1) << "that of the most tried handler";
  EXPECT_EQ(after.last_error, spent.last_error + "; then the claim expired");
  EXPECT_EQ(after.error_class, spent.error_class);
  ASSERT_THAT(after.progress, SizeIs(3));
  EXPECT_TRUE(after.progress[0].out_of_attempts);
  EXPECT_EQ(after.progress[0].last_error, spent.last_error);
  EXPECT_EQ(after.progress[1].attempts, 1);
  EXPECT_EQ(after.progress[1].error_class, "ClaimExpired");
  ClaimRequest for_the_spent = request_for("w2");
  for_the_spent.handlers = {"billing.meter"};
  age(1h);
  EXPECT_THAT(claim(for_the_spent), IsEmpty()) << "it is not run again";
}

}  // namespace
}  // namespace sluice::contract
