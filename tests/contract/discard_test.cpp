#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SLUICE_CONTRACT(DiscardContract);

TEST_P(DiscardContract, ATombstoneHidesAFailedEvent) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  EXPECT_EQ(event(id).status, Status::failed);
  EXPECT_TRUE(event(id).deleted_at);
  EXPECT_THAT(must(store().list_events({.status = Status::failed}, 10, {})).events, IsEmpty());
  EXPECT_EQ(must(store().status()).discarded, 1);
}

TEST_P(DiscardContract, ARestoredEventIsAsBefore) {
  const Uuid id = failed_event();
  const EventRecord before = event(id);
  must(store().discard(id, operator_alice()));
  must(store().restore(id, operator_alice()));
  EXPECT_EQ(event(id).deleted_at, std::nullopt);
  EXPECT_EQ(event(id).last_error, before.last_error);
  EXPECT_THAT(must(store().list_events({.status = Status::failed}, 10, {})).events, SizeIs(1));
  EXPECT_EQ(must(store().status()).discarded, 0);
}

TEST_P(DiscardContract, BothNeedAReason) {
  const Uuid id = failed_event();
  Actor silent = operator_alice();
  silent.reason.clear();
  const auto discarded = store().discard(id, silent);
  ASSERT_FALSE(discarded);
  EXPECT_EQ(discarded.error().code, ErrorCode::invalid);
  EXPECT_EQ(discarded.error().field, "reason");
  EXPECT_EQ(event(id).deleted_at, std::nullopt);
  must(store().discard(id, operator_alice()));
  const auto restored = store().restore(id, silent);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().field, "reason");
  EXPECT_TRUE(event(id).deleted_at);
}

TEST_P(DiscardContract, OnlyAFailedEvent) {
  const Uuid id = publish();
  const auto refuses = [&](const std::string& state) {
    const auto refused = store().discard(id, operator_alice());
    ASSERT_FALSE(refused) << state;
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_THAT(refused.error().message, HasSubstr(state));
  };
  refuses("pending");
  const ClaimedEvent claimed = claim_one();
  refuses("in_flight");
  deliver(claimed);
  refuses("delivered");
  EXPECT_EQ(event(id).deleted_at, std::nullopt);
}

TEST_P(DiscardContract, TwiceIsAConflict) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  EXPECT_EQ(store().discard(id, operator_alice()).error().code, ErrorCode::conflict);
}

TEST_P(DiscardContract, NothingToRestoreIsAConflict) {
  EXPECT_EQ(store().restore(failed_event(), operator_alice()).error().code, ErrorCode::conflict);
}

TEST_P(DiscardContract, AnUnknownEventIsNotFound) {
  EXPECT_EQ(store().discard(new_id(), operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().restore(new_id(), operator_alice()).error().code, ErrorCode::not_found);
}

TEST_P(DiscardContract, BothAreAuditedInOrder) {
  const Uuid id = failed_event();
  must(store().discard(id, {"alice", "cli", "obsolete"}));
  must(store().restore(id, {"bob", "mcp", "a mistake"}));
  const auto audit = must(store().audit_of(id));
  ASSERT_THAT(audit, SizeIs(2));
  EXPECT_EQ(audit[0].action, "discard");
  EXPECT_EQ(audit[0].actor.reason, "obsolete");
  EXPECT_EQ(audit[1].action, "restore");
  EXPECT_EQ(audit[1].actor.name, "bob");
  EXPECT_EQ(audit[1].actor.surface, "mcp");
}

TEST_P(DiscardContract, TheAuditCannotBeChanged) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  EXPECT_FALSE(harness().raw_sql("update {audit} set actor = 'nobody'"));
  EXPECT_FALSE(harness().raw_sql("delete from {audit}"));
  EXPECT_EQ(must(store().audit_of(id)).at(0).actor.name, "alice@example.com");
}

}  // namespace
}  // namespace sluice::contract
