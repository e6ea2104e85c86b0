// What the database itself refuses, whoever writes.
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::HasSubstr;

class IntegrityContract : public StoreContract {
 protected:
  Uuid event_in(Status status) {
    switch (status) {
      case Status::delivered:
        return delivered_event();
      case Status::failed:
        return failed_event();
      case Status::pending:
        return publish();
      case Status::in_flight:
        break;
    }
    const Uuid id = publish();
    claim_one();
    return id;
  }

  /// Moves the event as completely as the move needs, past the store.
  Result<Rows> move(const Uuid& id, Status from, Status to) {
    std::string set = "status = '" + std::string{name(to)} + "'";
    if (to == Status::in_flight && from == Status::pending) set += ", claim_seq = claim_seq + 1, claimed_by = 'raw'";
    // Only what a relay has delivered can fail afterwards.
    if (from == Status::delivered) raw_sql("update {outbox} set claimed_by = 'host/relay:nats/0'");
    if (to == Status::pending && from != Status::pending) set += ", retry_after = {now}";
    if (to == Status::pending && (from == Status::failed || from == Status::delivered))
      set += R"(, failure_history = '[{"cycle":1}]')";
    return update(id, set);
  }

  Result<Rows> update(const Uuid& id, const std::string& set) {
    return harness().raw_sql("update {outbox} set " + set + " where id = '" + id.to_string() + "'");
  }

  void refused(const Result<Rows>& result, const std::string& word) {
    ASSERT_FALSE(result) << "expected a refusal that mentions " << word;
    EXPECT_THAT(result.error().message, HasSubstr(word));
  }
};

SLUICE_OVER_EVERY_STORE(IntegrityContract);

TEST_P(IntegrityContract, OnlyTheEdgesOfTheTableArePossible) {
  for (const Status from : kStatuses) {
    for (const Status to : kStatuses) {
      if (from == to) continue;  // no transition
      const Uuid id = event_in(from);
      const auto moved = move(id, from, to);
      EXPECT_EQ(moved.has_value(), is_legal(from, to)) << name(from) << " to " << name(to);
      EXPECT_EQ(event(id).status, is_legal(from, to) ? to : from);
      raw_sql("delete from {outbox}");
    }
  }
}

TEST_P(IntegrityContract, ARefusalIsReadable) {
  const auto refusal = move(publish(), Status::pending, Status::delivered);
  ASSERT_FALSE(refusal);
  EXPECT_THAT(refusal.error().message, HasSubstr("pending"));
}

TEST_P(IntegrityContract, AClaimMustRaiseTheFencingTokenByOne) {
  const Uuid id = publish();
  refused(update(id, "status = 'in_flight', claimed_by = 'raw'"), "claim_seq");
  refused(update(id, "status = 'in_flight', claimed_by = 'raw', claim_seq = claim_seq + 2"), "claim_seq");
  EXPECT_EQ(event(id).status, Status::pending);
}

TEST_P(IntegrityContract, TheFencingTokenNeverFalls) {
  const Uuid id = publish();
  claim_one();
  refused(update(id, "claim_seq = 0"), "claim_seq");
}

TEST_P(IntegrityContract, WhatBecomesPendingAgainNeedsADueTime) {
  const Uuid id = publish();
  claim_one();
  refused(update(id, "status = 'pending', retry_after = null"), "retry_after");
}

TEST_P(IntegrityContract, AReplayCannotSkipTheHistory) {
  const Uuid id = failed_event();
  EXPECT_FALSE(update(id, "status = 'pending', retry_after = {now}"));
  EXPECT_EQ(event(id).status, Status::failed);
}

TEST_P(IntegrityContract, OnlyFinishedEventsCanBeTombstonedByHand) {
  const Uuid id = publish();
  // An embedded store cannot tell a cancel from an UPDATE.
  if (GetParam() != "sqlite") refused(update(id, "deleted_at = {now}"), "tombstoned");
  claim_one();
  refused(update(id, "deleted_at = {now}"), "tombstoned");
  must(update(failed_event(), "deleted_at = {now}"));
}

TEST_P(IntegrityContract, IdentityNeverChanges) {
  const Uuid id = publish();
  EXPECT_FALSE(update(id, "id = '" + new_id().to_string() + "'"));
  EXPECT_FALSE(update(id, "idempotency_key = 'another'"));
}

TEST_P(IntegrityContract, BadValuesAreRefusedByTheNameOfTheirColumn) {
  const Uuid id = publish();
  EXPECT_FALSE(update(id, "status = 'lost'"));
  refused(update(id, "channel = '" + std::string(64, 'c') + "'"), "channel");
  refused(update(id, "channel = ''"), "channel");
  refused(update(id, "attempts = -1"), "attempts");
  refused(update(id, "payload = '[1]'"), "payload");
  EXPECT_FALSE(update(id, "payload = '{'"));
  refused(update(id, "generation = 0"), "generation");
  refused(update(id, "source = 'No Context'"), "source");
}

TEST_P(IntegrityContract, AChannelOfExactly63BytesIsAllowed) {
  must(update(publish(), "channel = '" + std::string(63, 'c') + "'"));
}

}  // namespace
}  // namespace sluice::contract
