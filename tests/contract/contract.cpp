#include "tests/contract/contract.hpp"

namespace sluice::contract {

std::vector<std::string> store_names() { return {"sqlite", "postgres", "partitions"}; }

std::string store_label(const testing::TestParamInfo<std::string>& param) { return param.param; }

void StoreContract::SetUp() {
  harness_ = must(GetParam() == "sqlite" ? make_sqlite_harness() : make_postgres_harness(GetParam() == "partitions"));
}

void StoreContract::TearDown() {
  if (harness_ == nullptr) return;
  EXPECT_THAT(must(harness_->integrity_check()), testing::IsEmpty());
}

Uuid StoreContract::publish(const NewEvent& event) { return publish(std::vector{event}).front(); }

std::vector<Uuid> StoreContract::publish(const std::vector<NewEvent>& events) {
  EXPECT_THAT(must(store().publish(events)), testing::Each(PublishOutcome::published));
  return ids(events);
}

std::vector<ClaimedEvent> StoreContract::claim(int limit) { return claim(request_for("w1", limit)); }

ClaimedEvent StoreContract::claim_one() {
  auto claimed = claim();
  if (claimed.size() != 1) throw std::runtime_error("claimed " + std::to_string(claimed.size()) + " events, not one");
  return claimed.front();
}

SettleReport StoreContract::settle(const ClaimedEvent& claimed, const Outcome& outcome, const RetryPolicy& policy) {
  return must(store().settle(std::vector{settle_item(claimed, outcome, policy)}));
}

void StoreContract::fail_once(const Uuid& id) {
  const ClaimedEvent claimed = claim_one();
  EXPECT_EQ(claimed.envelope.event_id(), id);
  EXPECT_EQ(settle(claimed, Outcome::failed(terminal_failure())).settled, 1);
}

Uuid StoreContract::failed_event(const NewEvent& event) {
  const Uuid id = publish(event);
  fail_once(id);
  return id;
}

Uuid StoreContract::delivered_event(const NewEvent& event) {
  const Uuid id = publish(event);
  EXPECT_EQ(deliver(claim_one()).settled, 1);
  return id;
}

void StoreContract::replace_first_generation() {
  for (const Generation generation : {1, 2}) {
    must(store().allocate_generation(generation, "", operator_alice()));
    must(store().move_generation(generation, GenerationState::live, operator_alice()));
  }
  must(store().move_generation(1, GenerationState::draining, operator_alice()));
  must(store().move_generation(1, GenerationState::retired, operator_alice()));
}

SettleItem settle_item(const ClaimedEvent& claimed, const Outcome& outcome, const RetryPolicy& policy) {
  SettleItem item;
  item.claim = claimed.claim;
  item.settlement = sluice::settle(claimed.attempts, outcome, policy, 0.5);
  item.idempotency_key = claimed.envelope.idempotency_key();
  return item;
}

ClaimRequest request_for(std::string worker, int limit) {
  ClaimRequest request;
  request.worker = std::move(worker);
  request.limit = limit;
  return request;
}

std::vector<Uuid> ids(const std::vector<ClaimedEvent>& claimed) {
  std::vector<Uuid> found;
  for (const ClaimedEvent& event : claimed) found.push_back(event.envelope.event_id());
  return found;
}

std::vector<Uuid> ids(const std::vector<NewEvent>& events) {
  std::vector<Uuid> found;
  for (const NewEvent& event : events) found.push_back(event.envelope.event_id());
  return found;
}

Subscription subscription(std::string handler_name, std::vector<std::string> event_types) {
  Subscription made;
  made.handler_name = std::move(handler_name);
  made.event_types = std::move(event_types);
  return made;
}

Failure timeout_failure() { return {std::string{error_class::timeout}, "no answer within 5 s", {}, false}; }

Failure terminal_failure() { return {std::string{error_class::payload}, "amount is missing", {}, false}; }

RetryPolicy minute_retries(int max_attempts) {
  RetryPolicy policy;
  policy.max_attempts = max_attempts;
  policy.base = 60s;
  policy.multiplier = 1.0;
  policy.jitter = Jitter::none;
  return policy;
}

Actor operator_alice() { return {"alice@example.com", "cli", "the upstream is back"}; }

}  // namespace sluice::contract
