// An event for one of its handlers again, and a dead letter with another payload.
#include "core/json.hpp"
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class SendToContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    must(store().subscribe(1, std::vector{subscription("billing.meter"), subscription("worlds.indexer")}));
  }

  void handled(const ClaimedEvent& claimed, std::vector<std::string> handlers) {
    SettleItem item = settle_item(claimed, Outcome::handled());
    item.handled_by = std::move(handlers);
    must(store().settle(std::vector{item}));
  }

  /// Delivered, and both handlers have recorded it.
  Uuid handled_by_both() {
    const Uuid id = publish();
    handled(claim_one(), {"billing.meter", "worlds.indexer"});
    return id;
  }

  /// Handled by worlds.indexer; billing.meter is out of attempts.
  Uuid half_failed() {
    const Uuid id = publish();
    SettleItem item = settle_item(claim_one(), Outcome::failed(terminal_failure()));
    HandlerProgress out;
    out.handler_name = "billing.meter";
    out.attempts = 5;
    out.out_of_attempts = true;
    out.last_error = "PayloadError: amount is missing";
    out.error_class = "PayloadError";
    item.settlement.progress = {out};
    item.handled_by = {"worlds.indexer"};
    must(store().settle(std::vector{item}));
    return id;
  }

  std::vector<std::string> handlers_of(const Uuid& id) {
    std::vector<std::string> names;
    for (const auto& record : must(store().handled(event(id)))) names.push_back(record.key.handler_name);
    return names;
  }
};
SLUICE_OVER_EVERY_STORE(SendToContract);

TEST_P(SendToContract, ADeliveredEventGoesToOneHandlerAgain) {
  const Uuid id = handled_by_both();
  const EventRecord before = event(id);
  const auto report = must(store().send_to({id, "billing.meter", Status::delivered, 1}, operator_alice()));
  EXPECT_EQ(report.cycle, 1);
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.claim_seq, before.claim_seq);
  EXPECT_EQ(after.delivered_at, std::nullopt);
  EXPECT_THAT(handlers_of(id), ElementsAre("worlds.indexer"));
  const ClaimedEvent again = claim_one();
  ASSERT_THAT(again.progress, SizeIs(1));
  EXPECT_EQ(again.progress[0].handler_name, "billing.meter");
  EXPECT_FALSE(again.progress[0].out_of_attempts);
  handled(again, {"billing.meter"});
  EXPECT_EQ(event(id).status, Status::delivered);
  EXPECT_THAT(handlers_of(id), UnorderedElementsAre("billing.meter", "worlds.indexer"));
}

TEST_P(SendToContract, HistoryAndAuditKeepWhatWas) {
  const Uuid id = handled_by_both();
  const auto delivered = event(id).delivered_at;
  must(store().send_to({id, "billing.meter", Status::delivered, 1}, operator_alice()));
  const std::string history = event(id).failure_history;
  const auto entries = must(json::elements(history, "history"));
  ASSERT_THAT(entries, SizeIs(1));
  std::map<std::string, std::string> entry;
  for (const json::Member& member : must(json::members(entries[0], "entry"))) entry[member.name] = member.value;
  EXPECT_EQ(entry["handler"], R"("billing.meter")");
  EXPECT_EQ(must(parse_iso8601(must(json::string_value(entry["delivered_at"], "d")), "d")), delivered);
  EXPECT_EQ(entry["failed_at"], "null");
  EXPECT_EQ(entry["replayed_by"], R"("alice@example.com")");
  const auto audit = must(store().audit_of(id)).back();
  EXPECT_EQ(audit.action, "resend");
  EXPECT_THAT(audit.detail, HasSubstr("billing.meter"));
  EXPECT_THAT(audit.detail, HasSubstr("handled_at"));
}

TEST_P(SendToContract, WhoHasNotHandledItIsSetAside) {
  const Uuid id = publish();
  handled(claim_one(), {"worlds.indexer"});
  must(store().send_to({id, "worlds.indexer", Status::delivered, 1}, operator_alice()));
  const auto progress = event(id).progress;
  ASSERT_THAT(progress, SizeIs(2));
  EXPECT_EQ(progress[1].handler_name, "billing.meter");
  EXPECT_TRUE(progress[1].aside && progress[1].out_of_attempts);
  EXPECT_EQ(progress[1].attempts, 0);
}

TEST_P(SendToContract, ADeadLetterGoesToOneHandler) {
  const Uuid id = half_failed();
  must(store().send_to({id, "worlds.indexer", Status::failed, 1}, operator_alice()));
  EXPECT_EQ(last_action(id), "replay");
  EXPECT_THAT(handlers_of(id), IsEmpty());
  const auto progress = event(id).progress;
  ASSERT_THAT(progress, SizeIs(2));
  EXPECT_EQ(progress[0].handler_name, "worlds.indexer");
  EXPECT_EQ(progress[1].last_error, "PayloadError: amount is missing");
  EXPECT_EQ(progress[1].attempts, 5);
  EXPECT_TRUE(progress[1].aside);
  ClaimRequest request = request_for("w1");
  request.handlers = {"billing.meter"};
  EXPECT_THAT(claim(request), IsEmpty());
  request.handlers = {"worlds.indexer"};
  EXPECT_THAT(ids(claim(request)), ElementsAre(id));
}

TEST_P(SendToContract, OnlyToAHandlerThatSubscribes) {
  const Uuid id = handled_by_both();
  const auto answer = store().send_to({id, "memory.reader", Status::delivered, 1}, operator_alice());
  refused(answer, ErrorCode::invalid, "billing.meter, worlds.indexer");
  EXPECT_EQ(answer.error().field, "handler");
  EXPECT_EQ(event(id).status, Status::delivered);
  EXPECT_EQ(event(id).failure_history, "[]");
  EXPECT_THAT(must(store().audit_of(id)), IsEmpty());
}

TEST_P(SendToContract, OnlyFromTheStateThatIsMeant) {
  const Uuid delivered = handled_by_both();
  refused(store().send_to({delivered, "billing.meter", Status::failed, 1}, operator_alice()), ErrorCode::conflict,
          "only a failed event can be replayed");
  const Uuid dead = half_failed();
  refused(store().send_to({dead, "billing.meter", Status::delivered, 1}, operator_alice()), ErrorCode::conflict,
          "only a delivered event can be sent again");
  must(store().discard(dead, operator_alice()));
  refused(store().send_to({dead, "billing.meter", Status::failed, 1}, operator_alice()), ErrorCode::conflict,
          "restore it first");
  const Uuid pending = publish();
  refused(store().send_to({pending, "billing.meter", Status::delivered, 1}, operator_alice()), ErrorCode::conflict,
          "pending");
}

TEST_P(SendToContract, NotWhileABrokerCarriesTheDeliveries) {
  const Uuid id = handled_by_both();
  must(store().switch_relay(store::RelayState::on, "nats", operator_alice()));
  refused(store().send_to({id, "billing.meter", Status::delivered, 1}, operator_alice()), ErrorCode::conflict,
          "a broker carries the deliveries");
}

TEST_P(SendToContract, NothingGoesToARetiredGeneration) {
  const Uuid delivered = handled_by_both();
  const Uuid dead = half_failed();
  replace_first_generation();
  refused(store().send_to({delivered, "billing.meter", Status::delivered, 1}, operator_alice()), ErrorCode::conflict,
          "generation 1 is retired");
  refused(store().send_to({dead, "billing.meter", Status::failed, 1}, operator_alice()), ErrorCode::conflict,
          "generation 1 is retired");
  refused(store().replay(dead, 1, operator_alice()), ErrorCode::conflict, "generation 1 is retired");
  refused(store().replay_edited({dead, "{}", 1, 100'000}, operator_alice()), ErrorCode::conflict,
          "generation 1 is retired");
  EXPECT_EQ(event(delivered).status, Status::delivered);
  EXPECT_EQ(event(dead).status, Status::failed);
  must(store().replay(dead, 2, operator_alice()));
}

TEST_P(SendToContract, PlainSqlCannotSendAgain) {
  handled_by_both();
  EXPECT_FALSE(harness().raw_sql("update {outbox} set status = 'pending', retry_after = {now}"));
  EXPECT_FALSE(harness().raw_sql("update {outbox} set status = 'in_flight'"));
}

SLUICE_CONTRACT(EditContract);

TEST_P(EditContract, ADeadLetterIsReplayedWithAnotherPayload) {
  const Uuid id = failed_event();
  const EventRecord before = event(id);
  const auto report =
      must(store().replay_edited({id, R"({"amount":12.50,"note":null})", 1, 100'000}, operator_alice()));
  EXPECT_EQ(report.cycle, 1);
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.envelope.event_id(), id);
  EXPECT_EQ(after.envelope.idempotency_key(), before.envelope.idempotency_key());
  const auto claimed = claim_one();
  EXPECT_THAT(claimed.envelope.payload(), HasSubstr("12.50"));
  EXPECT_THAT(claimed.envelope.payload(), HasSubstr("null"));
  std::vector<std::string> actions;
  for (const auto& record : must(store().audit_of(id))) actions.push_back(record.action);
  EXPECT_THAT(actions, ElementsAre("replay", "edit"));
}

TEST_P(EditContract, TheHistoryKeepsTheOriginal) {
  NewEvent original = an_event();
  const Uuid id = failed_event(original);
  must(store().replay_edited({id, R"({"amount":null})", 1, 100'000}, operator_alice()));
  fail_once(id);
  must(store().replay_edited({id, R"({"amount":2})", 1, 100'000}, operator_alice()));
  const auto payload_of = [&](std::size_t place) {
    std::string found;
    const std::string history = event(id).failure_history;
    for (const json::Member& member :
         must(json::members(must(json::elements(history, "history")).at(place), "entry"))) {
      if (member.name == "payload") found = member.value;
    }
    std::erase(found, ' ');
    return found;
  };
  std::string first = original.envelope.payload();
  std::erase(first, ' ');
  EXPECT_EQ(payload_of(0), first);
  EXPECT_EQ(payload_of(1), R"({"amount":null})");
}

TEST_P(EditContract, OnlyADeadLetterAndOnlyAnObject) {
  const Uuid id = publish();
  EXPECT_EQ(store().replay_edited({id, "{}", 1, 1000}, operator_alice()).error().code, ErrorCode::conflict);
  fail_once(id);
  EXPECT_EQ(store().replay_edited({id, "[1]", 1, 100'000}, operator_alice()).error().code, ErrorCode::invalid);
  EXPECT_EQ(event(id).status, Status::failed);
  EXPECT_EQ(event(id).failure_history, "[]");
}

TEST_P(EditContract, TheHistoryStaysBounded) {
  const Uuid id = failed_event();
  const auto answer = store().replay_edited({id, "{}", 1, 10}, operator_alice());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::conflict);
  EXPECT_THAT(answer.error().message, HasSubstr("publish a new event instead"));
  EXPECT_EQ(event(id).status, Status::failed);
}

}  // namespace
}  // namespace sluice::contract
