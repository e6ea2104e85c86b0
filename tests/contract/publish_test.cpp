#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

SLUICE_CONTRACT(PublishContract);

TEST_P(PublishContract, OneEventIsStoredAsItWasGiven) {
  EnvelopeDraft draft = a_draft("platform.scan.completed");
  draft.event_version = 3;
  draft.occurred_at = must(parse_iso8601("2026-04-25T01:43:02.123456Z"));
  draft.target = "worlds";
  draft.workspace_id = new_id();
  draft.payload = R"({"scan":7})";
  draft.idempotency_key = "scan-7";
  draft.trace_context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  NewEvent given = an_event(draft);
  given.generation = 4;
  given.channel = "outbox_gen_4";
  given.content_class = "bulk";
  given.ordering_key = "scan";
  const EventRecord stored = event(publish(given));

  EXPECT_EQ(stored.envelope.event_id(), draft.event_id);
  EXPECT_EQ(stored.envelope.event_type(), "platform.scan.completed");
  EXPECT_EQ(stored.envelope.event_version(), 3);
  EXPECT_EQ(stored.envelope.occurred_at(), draft.occurred_at);
  EXPECT_EQ(stored.envelope.source(), "tests");
  EXPECT_EQ(stored.envelope.target(), "worlds");
  EXPECT_EQ(stored.envelope.workspace_id(), draft.workspace_id);
  EXPECT_EQ(stored.envelope.idempotency_key(), "scan-7");
  EXPECT_EQ(stored.envelope.trace_context(), draft.trace_context);
  EXPECT_EQ(stored.generation, 4);
  EXPECT_EQ(stored.channel, "outbox_gen_4");
  EXPECT_EQ(stored.content_class, "bulk");
  EXPECT_EQ(stored.ordering_key, "scan");
}

TEST_P(PublishContract, ANewEventIsPendingAndUntouched) {
  const EventRecord stored = event(publish());
  EXPECT_EQ(stored.status, Status::pending);
  EXPECT_EQ(stored.attempts, 0);
  EXPECT_EQ(stored.claim_seq, 0);
  EXPECT_EQ(stored.failure_history, "[]");
  EXPECT_EQ(stored.last_error, std::nullopt);
  EXPECT_EQ(stored.claimed_at, std::nullopt);
  EXPECT_EQ(stored.retry_after, std::nullopt);
  EXPECT_EQ(stored.delivered_at, std::nullopt);
  EXPECT_EQ(stored.deleted_at, std::nullopt);
  EXPECT_EQ(stored.envelope.target(), std::nullopt);
  EXPECT_EQ(stored.envelope.idempotency_key(), stored.envelope.event_id().to_string());
}

TEST_P(PublishContract, ManyEventsInOneCall) {
  const auto many = events(10'000);
  EXPECT_EQ(publish(many).size(), 10'000U);
  EXPECT_EQ(must(store().status()).counts.at(0).count, 10'000);
}

TEST_P(PublishContract, NoEventsIsNoError) { EXPECT_THAT(must(store().publish({})), IsEmpty()); }

TEST_P(PublishContract, ARepeatedCallChangesNothing) {
  const auto batch = events(3);
  publish(batch);
  EXPECT_THAT(must(store().publish(batch)), Each(PublishOutcome::duplicate));
  EXPECT_EQ(claim(10).size(), 3U);
}

TEST_P(PublishContract, ADuplicateKeepsTheFirstContent) {
  EnvelopeDraft draft = a_draft("test.first");
  publish(an_event(draft));
  draft.event_type = "test.second";
  EXPECT_THAT(must(store().publish(std::vector{an_event(draft)})), ElementsAre(PublishOutcome::duplicate));
  EXPECT_EQ(event(draft.event_id).envelope.event_type(), "test.first");
}

TEST_P(PublishContract, ADuplicateOfADeliveredEventIsNotDeliveredAgain) {
  const NewEvent once = an_event();
  delivered_event(once);
  EXPECT_THAT(must(store().publish(std::vector{once})), ElementsAre(PublishOutcome::duplicate));
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_P(PublishContract, DuplicatesAreReportedInTheOrderOfTheEvents) {
  const NewEvent known = an_event();
  publish(known);
  const std::vector batch{an_event(), known, an_event()};
  EXPECT_THAT(must(store().publish(batch)),
              ElementsAre(PublishOutcome::published, PublishOutcome::duplicate, PublishOutcome::published));
}

TEST_P(PublishContract, TheSameIdTwiceInOneCall) {
  const NewEvent twice = an_event();
  EXPECT_THAT(must(store().publish(std::vector{twice, twice})),
              ElementsAre(PublishOutcome::published, PublishOutcome::duplicate));
  EXPECT_EQ(claim().size(), 1U);
}

TEST_P(PublishContract, OneBadEventAndNothingIsWritten) {
  const NewEvent good = an_event();
  NewEvent bad = an_event();
  bad.channel = std::string(64, 'c');
  const auto refused = store().publish(std::vector{good, bad, an_event()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().retry, Retry::never);
  EXPECT_THAT(refused.error().message, HasSubstr("channel"));
  EXPECT_EQ(store().get_event(good.envelope.event_id()).error().code, ErrorCode::not_found);
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_P(PublishContract, AStoreThatRefusedAnEventGoesOnWorking) {
  NewEvent bad = an_event();
  bad.generation = 0;
  ASSERT_FALSE(store().publish(std::vector{bad}));
  const Uuid id = publish();
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(PublishContract, APayloadThatIsNoObjectIsRefusedByTheDatabase) {
  EnvelopeDraft draft = a_draft();
  draft.payload = "[1]";
  const NewEvent bad{.envelope = EventEnvelope::trusted(draft)};
  const auto refused = store().publish(std::vector{bad});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("payload"));
}

TEST_P(PublishContract, AnotherStoreSeesThePublishedEvent) {
  const Uuid id = publish();
  EXPECT_EQ(must(second_store()->get_event(id)).envelope.event_id(), id);
}

TEST_P(PublishContract, APlainInsertIsHeldToTheNameOfItsType) {
  for (const std::string type : {"a type with spaces", "", "1.b", "a..b", "a.", ".a", "a.b/c"}) {
    const auto refused = harness().raw_sql("insert into {outbox} (event_type, source, generation, payload) values ('" +
                                           type + "', 'tests', 1, '{}')");
    ASSERT_FALSE(refused) << type;
    EXPECT_THAT(refused.error().message, HasSubstr("event_type must"));
  }
}

TEST_P(PublishContract, APlainInsertIsForTheChannelOfItsGeneration) {
  raw_sql("insert into {outbox} (event_type, source, generation, payload) values ('test.plain', 'tests', 7, '{}')");
  ClaimRequest request = request_for("w1");
  request.generation = 7;
  EXPECT_EQ(claim(request).at(0).channel, "outbox_gen_7");
}

TEST_P(PublishContract, AGenerationExistsWhereSomebodyCouldClaim) {
  EXPECT_TRUE(must(store().generation_exists(1))) << "nothing was ever allocated";
  EXPECT_FALSE(must(store().generation_exists(999)));
  must(store().allocate_generation(4, "", operator_alice()));
  EXPECT_TRUE(must(store().generation_exists(4)));
  EXPECT_TRUE(must(store().generation_exists(1))) << "none is live, so it is still the default";
  must(store().move_generation(4, GenerationState::live, operator_alice()));
  EXPECT_FALSE(must(store().generation_exists(1))) << "nobody is there";
  must(store().subscribe(1, std::vector{subscription("worlds.indexer")}));
  EXPECT_TRUE(must(store().generation_exists(1)));
}

TEST_P(PublishContract, APlainInsertGetsTheDefaults) {
  raw_sql(
      "insert into {outbox} (event_type, source, generation, payload) values ('test.plain', 'tests', 1, '{\"n\":1}')");
  const ClaimedEvent claimed = claim_one();
  EXPECT_EQ(claimed.envelope.event_type(), "test.plain");
  EXPECT_EQ(claimed.envelope.event_version(), 1);
  EXPECT_EQ(claimed.envelope.event_id().version(), 7);
  EXPECT_EQ(claimed.envelope.idempotency_key(), claimed.envelope.event_id().to_string());
  EXPECT_EQ(claimed.channel, "outbox_gen_1");
  EXPECT_EQ(deliver(claimed).settled, 1);
}

}  // namespace
}  // namespace sluice::contract
