#include "runtime/relay.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

// A claim that was not relayed rests so long. While the broker is away nothing is claimed; see broker_failed_.
constexpr Duration kRestAfterRefusal = std::chrono::seconds{1};

std::vector<Interest> interests_of(const std::vector<Subscription>& subscriptions) {
  std::set<Interest> all;
  for (const Subscription& one : subscriptions) {
    for (Interest& interest : one.interests()) all.insert(std::move(interest));
  }
  return {all.begin(), all.end()};
}

}  // namespace

Result<std::vector<store::ClaimedEvent>> RelayClaims::claim(const store::ClaimRequest& request) {
  claimed_.clear();
  const auto everybody = terms_.everybody.current();
  const store::RelaySwitch& relay = everybody->relay;
  if (relay.state != store::RelayState::on || relay.broker != terms_.kind || everybody->subscriptions.empty()) {
    return std::vector<store::ClaimedEvent>{};
  }
  if (broker_failed_) {
    if (auto answered = terms_.broker.inspect(); !answered) return std::move(answered).error();
    broker_failed_ = false;
  }
  store::ClaimRequest wanted = request;
  wanted.interests = interests_of(everybody->subscriptions);
  wanted.handlers.clear();
  SLUICE_TRY(auto events, terms_.store.claim(wanted));
  SLUICE_CHECK(number_replays(events));
  for (store::ClaimedEvent& event : events) {
    // Attempts and progress belong to the handlers behind the broker, who find them in the message.
    event.attempts = 0;
    event.progress.clear();
  }
  return events;
}

Result<void> RelayClaims::number_replays(std::vector<store::ClaimedEvent>& events) {
  std::vector<Uuid> again;
  for (const store::ClaimedEvent& event : events) {
    const Uuid& id = event.claim.event_id;
    claimed_.insert_or_assign(id, Origin{event, 0});
    // A first claim is of no replay.
    if (event.claim.claim_seq > 1) again.push_back(id);
  }
  if (again.empty()) return {};
  SLUICE_TRY(const auto known, terms_.store.relayed(again));
  for (const store::RelayedEvent& one : known) {
    if (const auto found = claimed_.find(one.event_id); found != claimed_.end()) found->second.replay = one.replay;
  }
  return {};
}

Result<store::SettleReport> RelayClaims::settle(std::span<const store::SettleItem> items,
                                                std::optional<store::RegistryVersion> /*based_on*/) {
  // Whoever subscribes meanwhile finds the message in the stream: no decision depends on the subscriptions.
  std::vector<store::SettleItem> all{items.begin(), items.end()};
  for (store::SettleItem& item : all) {
    item.handled_by.clear();
    if (item.settlement.next != Status::pending) continue;
    const auto origin = claimed_.find(item.claim.event_id);
    if (origin == claimed_.end()) continue;
    item.settlement.progress = origin->second.event.progress;
    item.settlement.lane.clear();
  }
  return terms_.store.settle(all);
}

Verdict RelayClaims::verdict_on(const Result<broker::Taken>& answer) {
  if (answer) return Verdict{};
  const Error& error = answer.error();
  if (error.retry == Retry::never) {
    Verdict refused = Verdict::failed("BrokerRefused", error.message);
    refused.terminal = true;
    return refused;
  }
  broker_failed_ = true;
  return Verdict::defer_for(kRestAfterRefusal);
}

std::vector<Verdict> RelayClaims::publish(std::span<const EventEnvelope> events, const std::stop_token& stop) {
  std::vector<broker::OutgoingMessage> messages;
  messages.reserve(events.size());
  for (const EventEnvelope& event : events) {
    const Origin& origin = claimed_.at(event.event_id());
    messages.push_back(to_message(origin.event, origin.replay, {terms_.broker, terms_.shards}));
  }
  const auto answers = terms_.broker.publish(messages, terms_.publish_deadline, stop);
  std::vector<Verdict> verdicts;
  verdicts.reserve(answers.size());
  for (const auto& answer : answers) verdicts.push_back(verdict_on(answer));
  return verdicts;
}

RegisteredHandler relay_handler(RelayClaims& claims) {
  const auto publish = [&claims](std::span<const EventEnvelope> events, const Delivery& delivery) {
    return claims.publish(events, delivery.stop);
  };
  // Idempotent, without a dedup row of its own: the broker knows the message's id.
  return {.subscription = {.handler_name = std::string{kRelayHandler}},
          .handler = publish,
          .retry = {},
          .idempotent = true};
}

}  // namespace sluice::runtime
