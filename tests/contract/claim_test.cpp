#include <future>
#include <set>
#include <thread>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

SLUICE_CONTRACT(ClaimContract);

TEST_P(ClaimContract, AnEmptyStoreGivesNothing) { EXPECT_THAT(claim(), IsEmpty()); }

TEST_P(ClaimContract, OldestFirst) {
  const auto first = publish(events(3));
  const auto second = publish(events(2));
  auto expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_THAT(ids(claim()), ElementsAreArray(expected));
}

TEST_P(ClaimContract, AtMostTheLimit) {
  const auto published = publish(events(7));
  EXPECT_THAT(ids(claim(4)), ElementsAreArray(published.begin(), published.begin() + 4));
  EXPECT_THAT(ids(claim(4)), ElementsAreArray(published.begin() + 4, published.end()));
  EXPECT_THAT(claim(4), IsEmpty());
}

TEST_P(ClaimContract, ALimitOfZeroGivesNothing) {
  publish();
  EXPECT_THAT(claim(0), IsEmpty());
}

TEST_P(ClaimContract, TheRowTellsWhoHasIt) {
  const Uuid id = publish();
  claim(request_for("worker-7"));
  const EventRecord claimed = event(id);
  EXPECT_EQ(claimed.status, Status::in_flight);
  EXPECT_EQ(claimed.claimed_by, "worker-7");
  EXPECT_EQ(claimed.claim_seq, 1);
  EXPECT_EQ(claimed.attempts, 0);
  ASSERT_TRUE(claimed.claimed_at);
  EXPECT_LT(*claimed.claimed_at, must(store().now()) + 1min);
  EXPECT_GT(*claimed.claimed_at, must(store().now()) - 1min);
}

TEST_P(ClaimContract, TheClaimCarriesTheWholeEvent) {
  EnvelopeDraft draft = a_draft("test.whole");
  draft.target = "worlds";
  draft.payload = R"({"n":5})";
  NewEvent given = an_event(draft);
  given.ordering_key = "k";
  given.channel = "outbox_gen_1_slow";
  publish(given);
  const ClaimedEvent claimed = claim_one();
  EXPECT_EQ(claimed.envelope.event_id(), draft.event_id);
  EXPECT_EQ(claimed.envelope.event_type(), "test.whole");
  EXPECT_EQ(claimed.envelope.target(), "worlds");
  EXPECT_EQ(claimed.envelope.occurred_at(), draft.occurred_at);
  EXPECT_EQ(claimed.claim.event_id, draft.event_id);
  EXPECT_EQ(claimed.claim.claim_seq, 1);
  EXPECT_EQ(claimed.generation, 1);
  EXPECT_EQ(claimed.channel, "outbox_gen_1_slow");
  EXPECT_EQ(claimed.ordering_key, "k");
  EXPECT_EQ(claimed.attempts, 0);
  EXPECT_EQ(claimed.claimed_at, event(draft.event_id).claimed_at);
  EXPECT_THAT(claimed.progress, IsEmpty());
}

TEST_P(ClaimContract, AClaimedEventIsNotClaimedAgain) {
  publish();
  EXPECT_THAT(claim(), SizeIs(1));
  EXPECT_THAT(claim(), IsEmpty());
  EXPECT_THAT(must(second_store()->claim(request_for("w2"))), IsEmpty());
}

TEST_P(ClaimContract, TwoStoresTakeDisjointSets) {
  const auto published = publish(events(20));
  const auto other = second_store();
  std::set<Uuid> all;
  for (std::size_t before = 1; before != all.size();) {
    before = all.size();
    for (const Uuid& id : ids(claim(5))) EXPECT_TRUE(all.insert(id).second);
    for (const Uuid& id : ids(must(other->claim(request_for("w2", 5))))) EXPECT_TRUE(all.insert(id).second);
  }
  EXPECT_EQ(all, std::set<Uuid>(published.begin(), published.end()));
}

TEST_P(ClaimContract, ManyThreadsLoseNothingAndShareNothing) {
  const auto published = publish(events(500));
  const auto drain = [this](int worker) {
    std::vector<Uuid> taken;
    for (;;) {
      const auto batch = must(store().claim(request_for("w" + std::to_string(worker), 7)));
      if (batch.empty()) return taken;
      std::vector<SettleItem> items;
      for (const ClaimedEvent& event : batch) items.push_back(settle_item(event, Outcome::handled()));
      EXPECT_EQ(must(store().settle(items)).settled, static_cast<int>(batch.size()));
      for (const Uuid& id : ids(batch)) taken.push_back(id);
    }
  };
  std::vector<std::future<std::vector<Uuid>>> workers;
  for (int worker = 0; worker < 8; ++worker) workers.push_back(std::async(std::launch::async, drain, worker));
  std::multiset<Uuid> all;
  for (auto& worker : workers) {
    for (const Uuid& id : worker.get()) all.insert(id);
  }
  // A store may skip what another claim holds locked at that instant; nobody holds anything now.
  for (const Uuid& id : drain(99)) all.insert(id);
  EXPECT_EQ(all, std::multiset<Uuid>(published.begin(), published.end()));
}

TEST_P(ClaimContract, OnlyTheOwnGeneration) {
  NewEvent first = an_event();
  NewEvent second = an_event();
  second.generation = 2;
  publish(std::vector{first, second});
  ClaimRequest request = request_for("w2");
  request.generation = 2;
  const auto claimed = claim(request);
  EXPECT_THAT(ids(claimed), ElementsAre(second.envelope.event_id()));
  EXPECT_EQ(claimed.at(0).generation, 2);
  EXPECT_EQ(event(first.envelope.event_id()).status, Status::pending);
  EXPECT_THAT(ids(claim()), ElementsAre(first.envelope.event_id()));
}

TEST_P(ClaimContract, AnEventCommittedLateIsNotMissed) {
  const Uuid late = new_id();
  auto unfinished = must(harness().begin_unfinished_publish(late));
  const NewEvent prompt = an_event();
  // A store with one writer makes the second publisher wait; the others let it overtake.
  auto publishing = std::async(std::launch::async, [&] { return store().publish(std::vector{prompt}); });
  if (!store().capabilities().embedded) {
    must(publishing.get());
    EXPECT_THAT(ids(claim()), ElementsAre(prompt.envelope.event_id()));
    must(unfinished->commit());
    EXPECT_THAT(ids(claim()), ElementsAre(late));
    return;
  }
  must(unfinished->commit());
  must(publishing.get());
  EXPECT_THAT(ids(claim()), ElementsAre(late, prompt.envelope.event_id()));
}

TEST_P(ClaimContract, AStoreHasOneSecretForWhateverIsSigned) {
  const std::string secret = must(store().token_secret());
  EXPECT_GE(secret.size(), 32U);
  EXPECT_EQ(must(second_store()->token_secret()), secret);
}

TEST_P(ClaimContract, EveryClaimNamesItsBatch) {
  publish(events(3));
  for (const ClaimedEvent& claimed : claim()) EXPECT_NE(claimed.claim.batch, 0);
}

TEST_P(ClaimContract, APublishThatIsRolledBackIsNeverClaimed) {
  auto unfinished = must(harness().begin_unfinished_publish(new_id()));
  unfinished.reset();
  EXPECT_THAT(claim(), IsEmpty());
}

}  // namespace
}  // namespace sluice::contract
