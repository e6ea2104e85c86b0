#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::HandledKey;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

SLUICE_CONTRACT(DedupContract);

TEST_P(DedupContract, NothingIsHandledYet) {
  EXPECT_THAT(must(store().already_handled({})), IsEmpty());
  EXPECT_THAT(must(store().already_handled(std::vector<HandledKey>{{"worlds.indexer", "k"}})), IsEmpty());
}

TEST_P(DedupContract, ASettleRecordsWhoHandledTheEvent) {
  const Uuid id = publish();
  const ClaimedEvent claimed = claim_one();
  SettleItem item = settle_item(claimed, Outcome::handled());
  item.handled_by = {"worlds.indexer", "billing.meter"};
  must(store().settle(std::vector{item}));
  const std::string& key = claimed.envelope.idempotency_key();
  const std::vector<HandledKey> asked{
      {"worlds.indexer", key}, {"billing.meter", key}, {"memory.reader", key}, {"worlds.indexer", "another"}};
  EXPECT_THAT(must(store().already_handled(asked)),
              UnorderedElementsAre(HandledKey{"worlds.indexer", key}, HandledKey{"billing.meter", key}));
  const auto handled = must(store().handled(event(id)));
  ASSERT_THAT(handled, SizeIs(2));
  EXPECT_EQ(handled[0].key.idempotency_key, key);
  EXPECT_GT(handled[0].handled_at, must(store().now()) - 1min);
}

TEST_P(DedupContract, APartlyHandledEventIsRetriedAndRemembered) {
  publish();
  const ClaimedEvent claimed = claim_one();
  SettleItem item = settle_item(claimed, Outcome::failed(timeout_failure()), minute_retries());
  item.handled_by = {"worlds.indexer"};
  EXPECT_EQ(must(store().settle(std::vector{item})).settled, 1);
  EXPECT_THAT(
      must(store().already_handled(std::vector<HandledKey>{{"worlds.indexer", claimed.envelope.idempotency_key()}})),
      SizeIs(1));
  EXPECT_EQ(event(claimed.envelope.event_id()).status, Status::pending);
}

TEST_P(DedupContract, AFencedSettleStillRecordsTheEffect) {
  const Uuid id = publish();
  const ClaimedEvent stale = claim_one();
  settle(stale, Outcome::released());
  claim_one();
  SettleItem item = settle_item(stale, Outcome::handled());
  item.handled_by = {"worlds.indexer"};
  EXPECT_THAT(must(store().settle(std::vector{item})).fenced, ElementsAre(id));
  EXPECT_EQ(event(id).status, Status::in_flight);
  EXPECT_THAT(must(store().handled(event(id))), SizeIs(1));
}

TEST_P(DedupContract, RecordingTwiceIsHarmless) {
  const Uuid id = publish();
  SettleItem first = settle_item(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  first.handled_by = {"worlds.indexer"};
  must(store().settle(std::vector{first}));
  const auto handled_at = must(store().handled(event(id))).at(0).handled_at;
  must(store().settle(std::vector{first}));
  const auto handled = must(store().handled(event(id)));
  ASSERT_THAT(handled, SizeIs(1));
  EXPECT_EQ(handled[0].handled_at, handled_at);
}

TEST_P(DedupContract, TheKeyAndNotTheEventIsWhatCounts) {
  EnvelopeDraft first = a_draft();
  first.idempotency_key = "order-17";
  EnvelopeDraft second = a_draft();
  second.idempotency_key = "order-17";
  publish(std::vector{an_event(first), an_event(second)});
  SettleItem item = settle_item(claim(1).at(0), Outcome::handled());
  item.handled_by = {"billing.meter"};
  must(store().settle(std::vector{item}));
  EXPECT_THAT(must(store().handled(event(second.event_id))), SizeIs(1));
}

TEST_P(DedupContract, AReplayedEventIsStillKnown) {
  const Uuid id = publish();
  SettleItem item = settle_item(claim_one(), Outcome::failed(terminal_failure()));
  item.handled_by = {"worlds.indexer"};
  must(store().settle(std::vector{item}));
  must(store().replay(id, 1, operator_alice()));
  EXPECT_THAT(must(store().handled(event(id))), SizeIs(1));
}

TEST_P(DedupContract, OddKeysAreJustText) {
  EnvelopeDraft draft = a_draft();
  draft.idempotency_key = "it's \"a\" {key}, with, commas \\ and — ключ";
  publish(an_event(draft));
  SettleItem item = settle_item(claim_one(), Outcome::handled());
  item.handled_by = {"worlds.indexer"};
  must(store().settle(std::vector{item}));
  const std::vector<HandledKey> key{{"worlds.indexer", *draft.idempotency_key}};
  EXPECT_EQ(must(store().already_handled(key)), key);
}

}  // namespace
}  // namespace sluice::contract
