#include <algorithm>

#include "core/json.hpp"
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

SLUICE_CONTRACT(PayloadContract);

/// The raw value of each member, which no store may change.
std::map<std::string, std::string> values(const std::string& payload) {
  std::map<std::string, std::string> found;
  for (const json::Member& member : must(json::members(payload, "payload"))) {
    found[member.name] = std::string{member.value};
  }
  return found;
}

NewEvent event_with(const std::string& payload) {
  EnvelopeDraft draft = a_draft();
  draft.payload = payload;
  return an_event(draft);
}

TEST_P(PayloadContract, NumbersBeyond64BitsAndDecimalsStayExact) {
  const std::string payload =
      R"({"big":123456789012345678901234567890,"id":9007199254740993,"min":-9223372036854775808,)"
      R"("price":10.10,"tiny":0.000000000000000000000000000001,"u64":18446744073709551615})";
  const Uuid id = publish(event_with(payload));
  EXPECT_EQ(values(event(id).envelope.payload()), values(payload));
  EXPECT_EQ(values(claim_one().envelope.payload()), values(payload));
}

TEST_P(PayloadContract, LargePayloadsArriveWhole) {
  const std::string text(200 * 1024, 'x');
  const Uuid id = publish(event_with(R"({"text":")" + text + R"("})"));
  EXPECT_EQ(values(claim_one().envelope.payload()).at("text"), "\"" + text + "\"");
  EXPECT_EQ(event(id).envelope.payload().size() >= text.size(), true);
}

TEST_P(PayloadContract, UnicodeArrivesAsItWas) {
  const std::string payload =
      R"({"text":"naïve — 東京 — שלום — 🚰👩‍👩‍👧","имя":"Юрий"})";
  publish(event_with(payload));
  EXPECT_EQ(values(claim_one().envelope.payload()), values(payload));
}

TEST_P(PayloadContract, QuotesBackslashesAndControlCharacters) {
  const std::string payload = R"({"a\"b\\c":"it's \"quoted\" \\ and\nnew\tlines; {1,2}","e":"","nul":null})";
  publish(event_with(payload));
  const auto stored = values(claim_one().envelope.payload());
  EXPECT_EQ(stored.at("a\"b\\c"), values(payload).at("a\"b\\c"));
  EXPECT_EQ(stored.at("e"), R"("")");
  EXPECT_EQ(stored.at("nul"), "null");
}

TEST_P(PayloadContract, NestedStructuresSurvive) {
  const std::string payload = R"({"list":[1,[2,{"deep":[true,false,null]}],"x"]})";
  publish(event_with(payload));
  const auto stored = values(claim_one().envelope.payload()).at("list");
  std::string compact = stored;
  compact.erase(std::remove(compact.begin(), compact.end(), ' '), compact.end());
  EXPECT_EQ(compact, R"([1,[2,{"deep":[true,false,null]}],"x"])");
}

// What no publish lets in: on PostgreSQL numbers that become 70 MB of digits, on SQLite a column that is not what it
// says.
std::string smuggle(bool postgres, const std::string& id) {
  if (!postgres) {
    return "pragma ignore_check_constraints = on; insert into {outbox} (id, event_type, source, generation, payload, "
           "workspace_id) values ('" +
           id + "', 'test.bomb', 'tests', 1, '{}', 'nonsense')";
  }
  return "set session_replication_role = replica; insert into {outbox} (id, event_type, source, generation, payload, "
         "idempotency_key, channel) values ('" +
         id + "', 'test.bomb', 'tests', 1, ('{\"a\":[' || repeat('1e99999,', 700) || '1]}')::jsonb, '" + id +
         "', 'outbox_gen_1')";
}

TEST_P(PayloadContract, ARowThatCannotBeReadStopsNeitherAClaimNorAList) {
  const Uuid before = publish(a_keyed_event("k"));
  const Uuid bomb = new_id();
  raw_sql(smuggle(store().capabilities().listen, bomb.to_string()));
  const Uuid after = publish();
  for (const EventRecord& listed : must(store().list_events({}, 10, std::nullopt)).events) {
    EXPECT_EQ(listed.unreadable.has_value(), listed.envelope.event_id() == bomb);
  }
  const auto claimed = claim();
  EXPECT_THAT(ids(claimed), testing::UnorderedElementsAre(before, bomb, after));
  for (const ClaimedEvent& each : claimed) {
    EXPECT_EQ(each.unreadable.has_value(), each.envelope.event_id() == bomb);
    settle(each, each.unreadable ? Outcome::failed(terminal_failure()) : Outcome::handled());
  }
  EXPECT_EQ(event(bomb).status, Status::failed);
  EXPECT_TRUE(event(bomb).unreadable);
  EXPECT_THAT(must(store().list_dead({}, 10, std::nullopt)).events, testing::SizeIs(1));
  must(store().discard(bomb, operator_alice()));
  // A store that holds it has no integrity to check.
  raw_sql("delete from {outbox} where id = '" + bomb.to_string() + "'");
}

TEST_P(PayloadContract, AnEmptyObjectIsAPayload) {
  publish(event_with("{}"));
  EXPECT_EQ(claim_one().envelope.payload(), "{}");
}

TEST_P(PayloadContract, ALargeBatchOfMixedPayloads) {
  std::vector<NewEvent> batch;
  for (int n = 0; n < 50; ++n) {
    batch.push_back(event_with(R"({"n":)" + std::to_string(n) + R"(,"pad":")" +
                               std::string(static_cast<std::size_t>(n) * 200, 'p') + R"("})"));
  }
  publish(batch);
  const auto claimed = claim(50);
  ASSERT_EQ(claimed.size(), 50U);
  for (std::size_t n = 0; n < 50; ++n) {
    EXPECT_EQ(values(claimed[n].envelope.payload()).at("n"), std::to_string(n));
  }
}

}  // namespace
}  // namespace sluice::contract
