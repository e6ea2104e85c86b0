#include "runtime/relay.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/try.hpp"
#include "runtime/trace.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::runtime {
namespace {

// A claim that was not relayed rests so long. While the broker is away nothing is claimed; see refusal_.
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
  if (!is_on() || everybody->subscriptions.empty()) return std::vector<store::ClaimedEvent>{};
  if (refusal_) {
    if (auto checked = check_broker(); !checked) {
      count_error(checked.error());
      trouble_told_ = true;
      return std::move(checked).error();
    }
    // It is there and did not take what it was sent: whoever looks after it has to hear why. Then it is tried again.
    Error refusal = *std::exchange(refusal_, std::nullopt);
    if (!std::exchange(trouble_told_, false) && refusal.retry == Retry::safe) return refusal;
  }
  store::ClaimRequest wanted = request;
  wanted.interests = interests_of(everybody->subscriptions);
  wanted.handlers.clear();
  SLUICE_TRY(auto events, terms_.store.claim(wanted));
  if (events.empty()) return events;
  // After the claim, which whoever turns the switch back can see: either they wait for it, or it sees their change.
  SLUICE_CHECK(terms_.everybody.refresh());
  if (!is_on()) {
    SLUICE_CHECK(give_back(events));
    return std::vector<store::ClaimedEvent>{};
  }
  SLUICE_CHECK(number_replays(events));
  for (store::ClaimedEvent& event : events) {
    // Attempts and progress belong to the handlers behind the broker, who find them in the message.
    event.attempts = 0;
    event.progress.clear();
  }
  return events;
}

Result<void> RelayClaims::check_broker() {
  SLUICE_TRY(const auto facts, terms_.broker.inspect());
  // A stream of Redis comes with its first message.
  if (!facts.stream_exists && facts.kind != "redis") {
    return Error{ErrorCode::not_found,
                 Retry::safe,
                 "there is no JetStream stream " + facts.stream + ": events wait until there is one",
                 {},
                 "`sluice ladder relay nats --reason …` makes it"};
  }
  if (!broker::is_full(facts)) return {};
  return Error{ErrorCode::exhausted,
               Retry::safe,
               "the JetStream stream " + facts.stream + " is full: it has " + std::to_string(facts.messages) +
                   " messages of at most " + std::to_string(facts.max_messages.value_or(0)) + "; events wait",
               {},
               "nats stream edit " + facts.stream + " --max-msgs=-1"};
}

bool RelayClaims::is_on() const {
  const store::RelaySwitch relay = terms_.everybody.current()->relay;
  return relay.state == store::RelayState::on && relay.broker == terms_.kind;
}

Result<void> RelayClaims::give_back(const std::vector<store::ClaimedEvent>& events) {
  std::vector<store::SettleItem> items;
  for (const store::ClaimedEvent& event : events) {
    store::SettleItem item{event.claim, sluice::settle(event.attempts, Outcome::released(), {}, 0.0), {}, {}};
    item.settlement.progress = event.progress;
    items.push_back(std::move(item));
  }
  SLUICE_CHECK(terms_.store.settle(items));
  return {};
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
    item.attempts.clear();  // no handler has run
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
  refusal_ = error;
  return Verdict::defer_for(kRestAfterRefusal);
}

void RelayClaims::count_error(const Error& error) {
  if (terms_.metrics != nullptr) terms_.metrics->delivery.relay_errors.with({std::string{name(error.code)}}).add();
}

void RelayClaims::count(const std::vector<Result<broker::Taken>>& answers) {
  if (terms_.metrics == nullptr) return;
  std::map<std::string, std::uint64_t> results;
  const Error* failed = nullptr;
  for (const auto& answer : answers) {
    const bool refused = !answer && answer.error().retry == Retry::never;
    if (!answer && !refused) failed = &answer.error();
    ++results[answer ? (answer->duplicate ? "duplicate" : "published") : refused ? "refused" : "deferred"];
  }
  for (const auto& [result, events] : results) terms_.metrics->delivery.relayed.with({result}).add(events);
  if (failed != nullptr) count_error(*failed);
}

std::vector<Verdict> RelayClaims::publish(std::span<const EventEnvelope> events, const std::stop_token& stop) {
  std::vector<broker::OutgoingMessage> messages;
  messages.reserve(events.size());
  for (const EventEnvelope& event : events) {
    const Origin& origin = claimed_.at(event.event_id());
    messages.push_back(to_message(origin.event, origin.replay, {terms_.broker, terms_.shards}));
  }
  const auto span = trace_relay(terms_.tracer, terms_.kind, events);
  const auto answers = terms_.broker.publish(messages, terms_.publish_deadline, stop);
  count(answers);
  std::vector<Verdict> verdicts;
  verdicts.reserve(answers.size());
  for (const auto& answer : answers) verdicts.push_back(verdict_on(answer));
  const auto refused = std::find_if(answers.begin(), answers.end(), [](const auto& answer) { return !answer; });
  if (refused != answers.end()) telemetry::note_error(span.get(), refused->error());
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
