#include "core/json.hpp"
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

SLUICE_CONTRACT(ReplayContract);

using Entry = std::map<std::string, std::string>;  // member → raw JSON

std::vector<Entry> history(const EventRecord& event) {
  std::vector<Entry> entries;
  for (const std::string_view raw : must(json::elements(event.failure_history, "failure_history"))) {
    Entry& entry = entries.emplace_back();
    for (const json::Member& member : must(json::members(raw, "entry"))) entry[member.name] = std::string{member.value};
  }
  return entries;
}

std::vector<std::string> keys(const Entry& entry) {
  std::vector<std::string> names;
  for (const auto& [name, value] : entry) names.push_back(name);
  return names;
}

TEST_P(ReplayContract, AFailedEventStartsANewCycleInPlace) {
  const Uuid id = failed_event();
  const EventRecord before = event(id);
  must(store().replay(id, 2, operator_alice()));
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.generation, 2);
  EXPECT_EQ(after.attempts, 0);
  EXPECT_EQ(after.last_error, std::nullopt);
  EXPECT_EQ(after.error_class, std::nullopt);
  EXPECT_EQ(after.fingerprint, std::nullopt);
  EXPECT_EQ(after.first_failed_at, std::nullopt);
  EXPECT_EQ(after.claimed_at, std::nullopt);
  EXPECT_EQ(after.claimed_by, std::nullopt);
  EXPECT_EQ(after.claim_seq, before.claim_seq);
  EXPECT_EQ(after.seq, before.seq);
  EXPECT_EQ(after.envelope.event_id(), id);
  EXPECT_EQ(after.envelope.idempotency_key(), before.envelope.idempotency_key());
  EXPECT_EQ(after.envelope.payload(), before.envelope.payload());
}

TEST_P(ReplayContract, TheReportSaysWhatWasDone) {
  const Uuid id = failed_event();
  const store::ReplayReport report = must(store().replay(id, 2, operator_alice()));
  EXPECT_EQ(report.event_id, id);
  EXPECT_EQ(report.cycle, 1);
  EXPECT_EQ(report.attempts, 1);
  EXPECT_EQ(report.from_generation, 1);
  EXPECT_EQ(report.to_generation, 2);
}

TEST_P(ReplayContract, TheHistoryHasTheFieldsOfTheRunbook) {
  const Uuid id = failed_event();
  const EventRecord before = event(id);
  must(store().replay(id, 2, operator_alice()));
  const auto entries = history(event(id));
  ASSERT_THAT(entries, SizeIs(1));
  const Entry& entry = entries[0];
  EXPECT_THAT(keys(entry),
              ElementsAre("attempts", "cycle", "error_class", "failed_at", "fingerprint", "first_failed_at",
                          "from_generation", "last_error", "reason", "replayed_at", "replayed_by", "to_generation"));
  EXPECT_EQ(entry.at("cycle"), "1");
  EXPECT_EQ(entry.at("attempts"), "1");
  EXPECT_EQ(entry.at("last_error"), json::quote(*before.last_error));
  EXPECT_EQ(entry.at("error_class"), json::quote(*before.error_class));
  EXPECT_EQ(entry.at("fingerprint"), json::quote(*before.fingerprint));
  EXPECT_EQ(entry.at("from_generation"), "1");
  EXPECT_EQ(entry.at("to_generation"), "2");
  EXPECT_EQ(entry.at("replayed_by"), R"("alice@example.com")");
  EXPECT_EQ(entry.at("reason"), R"("the upstream is back")");
}

TEST_P(ReplayContract, TheHistoryKeepsTheTimes) {
  const Uuid id = failed_event();
  const EventRecord before = event(id);
  const Timestamp earliest = must(store().now());
  must(store().replay(id, 1, operator_alice()));
  const Timestamp latest = must(store().now());
  const auto entries = history(event(id));
  const auto time = [&](const std::string& key) {
    return must(parse_iso8601(must(json::string_value(entries.at(0).at(key), key)), key));
  };
  EXPECT_EQ(time("first_failed_at"), before.first_failed_at);
  EXPECT_EQ(time("failed_at"), before.claimed_at);
  EXPECT_GE(time("replayed_at"), earliest);
  EXPECT_LE(time("replayed_at"), latest);
}

TEST_P(ReplayContract, TheNewGenerationGetsItAtOnce) {
  const Uuid id = failed_event();
  must(store().replay(id, 2, operator_alice()));
  EXPECT_THAT(claim(), IsEmpty());
  ClaimRequest request = request_for("w2");
  request.generation = 2;
  const auto claimed = claim(request);
  EXPECT_THAT(ids(claimed), ElementsAre(id));
  EXPECT_EQ(claimed.at(0).attempts, 0);
  EXPECT_EQ(claimed.at(0).claim.claim_seq, 2);
}

TEST_P(ReplayContract, AComposedChannelFollowsTheGeneration) {
  NewEvent composed = an_event();
  composed.channel = "outbox_gen_1_slow";
  const Uuid id = failed_event(composed);
  must(store().replay(id, 12, operator_alice()));
  EXPECT_EQ(event(id).channel, "outbox_gen_12_slow");
}

TEST_P(ReplayContract, AnyOtherChannelStays) {
  NewEvent other = an_event();
  other.channel = "outbox_gen_11";
  const Uuid id = failed_event(other);
  must(store().replay(id, 2, operator_alice()));
  EXPECT_EQ(event(id).channel, "outbox_gen_11");
}

TEST_P(ReplayContract, TheSecondReplayIsTheSecondCycle) {
  const Uuid id = failed_event();
  must(store().replay(id, 1, operator_alice()));
  fail_once(id);
  EXPECT_EQ(must(store().replay(id, 1, {"bob", "http", ""})).cycle, 2);
  const auto entries = history(event(id));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].at("cycle"), "1");
  EXPECT_EQ(entries[1].at("cycle"), "2");
  EXPECT_EQ(entries[1].at("replayed_by"), R"("bob")");
  EXPECT_EQ(entries[1].at("reason"), "null");
}

TEST_P(ReplayContract, AReplayedEventHasAllItsAttemptsAgain) {
  const Uuid id = publish();
  for (int cycle = 0; cycle < 2; ++cycle) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries(3));
      age(61s);
    }
    EXPECT_EQ(event(id).status, Status::failed);
    EXPECT_EQ(event(id).attempts, 3);
    if (cycle == 0) must(store().replay(id, 1, operator_alice()));
  }
}

TEST_P(ReplayContract, ALongHistoryKeepsTheFirstAndTheLatest) {
  raw_sql("update {settings} set value = '3' where key = 'failure_history_max'");
  const Uuid id = failed_event();
  for (int cycle = 1; cycle <= 6; ++cycle) {
    EXPECT_EQ(must(store().replay(id, 1, operator_alice())).cycle, cycle);
    fail_once(id);
  }
  std::vector<std::string> cycles;
  for (const Entry& entry : history(event(id))) cycles.push_back(entry.at("cycle"));
  EXPECT_THAT(cycles, ElementsAre("1", "5", "6"));
}

TEST_P(ReplayContract, AnythingButAFailedEventIsRefusedByItsState) {
  const Uuid pending = publish();
  const auto refuses = [&](const Uuid& id, const std::string& state) {
    const auto refused = store().replay(id, 1, operator_alice());
    ASSERT_FALSE(refused) << state;
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_THAT(refused.error().message, HasSubstr(state));
    EXPECT_THAT(refused.error().message, HasSubstr(id.to_string()));
  };
  refuses(pending, "pending");
  const ClaimedEvent claimed = claim_one();
  refuses(pending, "in_flight");
  deliver(claimed);
  refuses(pending, "delivered");
  EXPECT_EQ(event(pending).status, Status::delivered);
  EXPECT_EQ(event(pending).failure_history, "[]");
  EXPECT_THAT(must(store().audit_of(pending)), IsEmpty());
}

TEST_P(ReplayContract, ADiscardedEventMustBeRestoredFirst) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  const auto refused = store().replay(id, 1, operator_alice());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("restore it first"));
  must(store().restore(id, operator_alice()));
  must(store().replay(id, 1, operator_alice()));
}

TEST_P(ReplayContract, AnUnknownEventIsNotFound) {
  EXPECT_EQ(store().replay(new_id(), 1, operator_alice()).error().code, ErrorCode::not_found);
}

TEST_P(ReplayContract, AGenerationBelowOneIsRefused) {
  const Uuid id = failed_event();
  EXPECT_EQ(store().replay(id, 0, operator_alice()).error().code, ErrorCode::invalid);
  EXPECT_EQ(event(id).status, Status::failed);
}

TEST_P(ReplayContract, AReplayIsAudited) {
  const Uuid id = failed_event();
  must(store().replay(id, 2, operator_alice()));
  const auto audit = must(store().audit_of(id));
  ASSERT_THAT(audit, SizeIs(1));
  EXPECT_EQ(audit[0].action, "replay");
  EXPECT_EQ(audit[0].actor.name, "alice@example.com");
  EXPECT_EQ(audit[0].actor.surface, "cli");
  EXPECT_EQ(audit[0].actor.reason, "the upstream is back");
  EXPECT_EQ(audit[0].event_id, id);
  EXPECT_EQ(audit[0].count, 1);
  EXPECT_GT(audit[0].at, must(store().now()) - 1min);
}

}  // namespace
}  // namespace sluice::contract
