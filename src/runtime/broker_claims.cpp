#include "runtime/broker_claims.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/try.hpp"
#include "runtime/broker_message.hpp"
#include "runtime/service.hpp"

namespace sluice::runtime {
namespace {

constexpr Duration kSettleDeadline = std::chrono::seconds{5};
// A claim passes by so many fetches of which it wants nothing, so that whoever stops need not wait for more.
constexpr int kMostPassedBy = 32;
// A report that overtook the settle of the relay: soon, but not at once.
constexpr Duration kEarlyRest = std::chrono::milliseconds{500};

using What = broker::Settlement::What;

// The progress of one handler in a list of all.
HandlerProgress own_of(const std::vector<HandlerProgress>& all, const std::string& handler) {
  for (const HandlerProgress& one : all) {
    if (one.handler_name == handler) return one;
  }
  HandlerProgress fresh;
  fresh.handler_name = handler;
  return fresh;
}

// A delivery that nobody has said anything about: its process died with it, as a claim expires.
void count_unanswered(HandlerProgress& progress, std::int64_t delivered) {
  const std::int64_t unanswered = delivered - 1 - progress.deliveries;
  if (unanswered <= 0) return;
  progress.attempts += static_cast<int>(unanswered);
  if (!progress.last_error.empty()) return;
  const Failure failure = expiry_failure();
  progress.last_error = failure.last_error();
  progress.error_class = effective_class(failure);
  progress.fingerprint = fingerprint(progress.error_class, failure.message);
}

/// The store's transaction; what was decided in it is told to the broker after the commit.
class RelayedEffect final : public store::EffectTransaction {
 public:
  RelayedEffect(std::unique_ptr<store::EffectTransaction> inner, BrokerClaims& claims)
      : inner_(std::move(inner)), claims_(claims) {}

  Result<std::vector<Entered>> enter(std::string_view handler_name, std::span<const Entry> entries) override {
    return inner_->enter(handler_name, entries);
  }
  store::StatementOutcome statement(std::string_view sql, std::span<const std::optional<std::string>> params) override {
    return inner_->statement(sql, params);
  }
  Result<void> mark() override { return inner_->mark(); }
  Result<void> undo_to_mark() override { return inner_->undo_to_mark(); }
  Result<store::SettleReport> settle(std::span<const store::SettleItem> items,
                                     std::optional<store::RegistryVersion> /*based_on*/) override {
    items_.insert(items_.end(), items.begin(), items.end());
    return store::SettleReport{static_cast<int>(items.size()), {}};
  }
  Result<void> commit() override {
    SLUICE_CHECK(inner_->commit());
    inner_.reset();
    // The effect stands whatever the broker says: what it is not told comes again and is deduplicated.
    if (!claims_.settle(items_)) claims_.settle_later(std::move(items_));
    return {};
  }
  [[nodiscard]] store::NativeTransaction native() const override {
    return inner_ ? inner_->native() : store::NativeTransaction{};
  }

 private:
  std::unique_ptr<store::EffectTransaction> inner_;
  BrokerClaims& claims_;
  std::vector<store::SettleItem> items_;
};

}  // namespace

Result<std::shared_ptr<broker::Consumer>> BrokerClaims::consumer() {
  {
    const std::lock_guard lock{mutex_};
    if (consumer_) return consumer_;
  }
  broker::ConsumerSpec spec;
  spec.handler_name = terms_.subscription.handler_name;
  spec.generation = terms_.generation;
  spec.event_types = terms_.subscription.event_types;
  spec.shards = terms_.shards;
  spec.max_unsettled = terms_.max_unsettled;
  spec.ack_wait = terms_.ack_wait;
  SLUICE_TRY(std::shared_ptr<broker::Consumer> opened, terms_.broker.consume(spec));
  const std::lock_guard lock{mutex_};
  consumer_ = opened;
  return opened;
}

Result<std::vector<broker::IncomingMessage>> BrokerClaims::fetch(int limit) {
  SLUICE_TRY(const auto open, consumer());
  auto messages = open->fetch(static_cast<std::size_t>(std::max(limit, 1)), terms_.fetch_wait, {});
  if (!messages && messages.error().code == ErrorCode::not_found) {
    const std::lock_guard lock{mutex_};
    consumer_.reset();
  }
  return messages;
}

std::vector<BrokerClaims::Fetched> BrokerClaims::sort_out(std::vector<broker::IncomingMessage> messages,
                                                          std::vector<std::string>& over) {
  const auto everybody = terms_.everybody.current();
  RouteMemo routes{*everybody};
  const std::string& handler = terms_.subscription.handler_name;
  std::vector<Fetched> fetched;
  for (broker::IncomingMessage& message : messages) {
    auto read = from_message(message);
    if (!read) {
      log_error(terms_.logger, "message " + message.id + " on " + message.address + " is no event of Sluice: dropped",
                read.error());
      over.push_back(std::move(message.token));
      continue;
    }
    const auto& target = read->event.envelope.target();
    const Route route{read->event.envelope.event_type(),
                      target ? std::optional<std::string_view>{*target} : std::nullopt, read->event.channel};
    if (!terms_.subscription.matches(route)) {
      over.push_back(std::move(message.token));
      continue;
    }
    Held held{std::move(message.token),
              message.id,
              read->replay,
              message.delivered,
              own_of(read->event.progress, handler),
              read->event.envelope.idempotency_key()};
    // Until it had several handlers, the row's count was its own.
    if (read->event.progress.empty()) held.before.attempts = read->event.attempts;
    read->event.shared = routes.matching(route).size() > 1;
    read->event.replay = read->replay;
    fetched.push_back({std::move(read->event), std::move(held)});
  }
  return fetched;
}

// What came before is known by the store; a first delivery has nothing before it.
Result<void> BrokerClaims::recall(std::vector<Fetched>& fetched, std::vector<std::string>& over) {
  std::vector<Uuid> again;
  for (const Fetched& one : fetched) {
    if (one.held.delivered > 1) again.push_back(one.event.envelope.event_id());
  }
  if (again.empty()) return {};
  SLUICE_TRY(const auto known, terms_.store.relayed(again));
  for (Fetched& one : fetched) {
    if (one.held.delivered <= 1) continue;
    const auto row = std::find_if(known.begin(), known.end(), [&](const store::RelayedEvent& event) {
      return event.event_id == one.event.envelope.event_id();
    });
    if (row == known.end()) continue;
    if (row->replay != one.held.replay) {
      over.push_back(std::move(one.held.token));
      one.held.token.clear();
      continue;
    }
    const HandlerProgress kept = own_of(row->progress, terms_.subscription.handler_name);
    const auto early = terms_.early->take(one.held.message);
    if (early && early->deliveries > kept.deliveries) {
      one.held.before = *early;
    } else if (kept.deliveries > 0) {
      one.held.before = kept;
    }
  }
  std::erase_if(fetched, [](const Fetched& one) { return one.held.token.empty(); });
  for (Fetched& one : fetched) count_unanswered(one.held.before, one.held.delivered);
  return {};
}

Result<void> BrokerClaims::check_store() {
  if (!store_failed_) return {};
  const Uuid nobody{};
  auto answered = terms_.store.relayed(std::span{&nobody, 1});
  if (!answered) return std::move(answered).error();
  store_failed_ = false;
  return {};
}

void BrokerClaims::settle_later(std::vector<store::SettleItem> items) {
  std::move(items.begin(), items.end(), std::back_inserter(untold_));
  untold_until_ = terms_.clock() + terms_.ack_wait;
}

// Nothing new is fetched before: whoever calls rests after an error. After the ack wait they come again by themselves.
Result<void> BrokerClaims::settle_untold() {
  if (untold_.empty()) return {};
  if (terms_.clock() < untold_until_) SLUICE_CHECK(settle(untold_));
  untold_.clear();
  return {};
}

Result<std::vector<BrokerClaims::Fetched>> BrokerClaims::wanted_of(std::vector<broker::IncomingMessage> messages) {
  std::vector<std::string> over;
  std::vector<Fetched> fetched = sort_out(std::move(messages), over);
  if (auto recalled = recall(fetched, over); !recalled) {
    store_failed_ = true;
    return std::move(recalled).error();
  }
  std::vector<broker::Settlement> settlements;
  for (const std::string& token : over) settlements.push_back({token, What::done, {}});
  SLUICE_TRY(const auto open, consumer());
  // What is not confirmed comes again and is passed over again.
  if (!settlements.empty()) static_cast<void>(open->settle(settlements, kSettleDeadline));
  return fetched;
}

Result<std::vector<store::ClaimedEvent>> BrokerClaims::claim(const store::ClaimRequest& request) {
  SLUICE_CHECK(check_store());
  SLUICE_CHECK(settle_untold());
  // A stream has the events of all: who wants few of them passes the others by at once, ever more at a time. A claim
  // that came back empty would be taken for the end of the stream.
  std::vector<Fetched> fetched;
  int limit = request.limit;
  for (int round = 0; round < kMostPassedBy && fetched.empty(); ++round) {
    SLUICE_TRY(auto messages, fetch(limit));
    const bool full = messages.size() >= static_cast<std::size_t>(limit);
    SLUICE_TRY(fetched, wanted_of(std::move(messages)));
    if (!full) break;
    limit = std::max(request.limit, std::min(2 * limit, terms_.max_unsettled));
  }

  std::vector<store::ClaimedEvent> events;
  const std::lock_guard lock{mutex_};
  held_.clear();  // whatever was fetched before is settled or given up by now
  for (Fetched& one : fetched) {
    one.event.claim.batch = next_;
    one.event.claimed_at = terms_.clock();
    one.event.attempts = one.held.before.attempts;
    one.event.progress.clear();
    if (one.held.before.attempts > 0 || one.held.before.aside) {
      one.held.before.due = one.event.claimed_at;
      one.event.progress.push_back(one.held.before);
    }
    events.push_back(std::move(one.event));
    held_.emplace(next_++, std::move(one.held));
  }
  return events;
}

std::optional<BrokerClaims::Held> BrokerClaims::held(std::int64_t number) const {
  const std::lock_guard lock{mutex_};
  const auto found = held_.find(number);
  return found == held_.end() ? std::nullopt : std::optional{found->second};
}

void BrokerClaims::remember(std::int64_t number, store::Reported answer) {
  const std::lock_guard lock{mutex_};
  if (const auto found = held_.find(number); found != held_.end()) found->second.reported = answer;
}

HandlerProgress BrokerClaims::progress_after(const Held& held, const Settlement& settlement) const {
  HandlerProgress after = held.before;
  if (!settlement.progress.empty()) {
    after = own_of(settlement.progress, terms_.subscription.handler_name);
  } else if (settlement.records_error) {
    after.attempts += settlement.counts_attempt ? 1 : 0;
    after.last_error = settlement.last_error;
    after.error_class = settlement.error_class;
    after.fingerprint = settlement.fingerprint;
  }
  after.out_of_attempts = settlement.next == Status::failed;
  after.deliveries = held.delivered;
  after.due = settlement.not_before.value_or(terms_.clock() + settlement.delay);
  return after;
}

// The store first, then the broker: what the broker is told is over cannot be told again.
Result<store::SettleReport> BrokerClaims::settle(std::span<const store::SettleItem> items,
                                                 std::optional<store::RegistryVersion> /*based_on*/) {
  std::vector<store::ConsumerReport> reports;
  std::vector<std::int64_t> reporting;
  std::map<std::int64_t, store::Reported> reported;
  for (const store::SettleItem& item : items) {
    const auto message = held(item.claim.batch);
    const bool handled = item.settlement.next == Status::delivered;
    // Of a replay everybody tells: the operation that has begun it counts them.
    if (!message || (handled && item.handled_by.empty() && message->replay == 0)) continue;
    // The store has it: the broker's answer was lost. A second report would log the attempts again.
    if (message->reported) {
      reported.emplace(item.claim.batch, *message->reported);
      continue;
    }
    HandlerProgress progress = progress_after(*message, item.settlement);
    progress.handler_name = terms_.subscription.handler_name;
    reports.push_back(
        {item.claim.event_id, message->replay, message->idempotency_key, handled, std::move(progress), item.attempts});
    reporting.push_back(item.claim.batch);
  }
  auto answers = terms_.store.report(reports);
  if (!answers) {
    store_failed_ = true;
    return std::move(answers).error();
  }
  for (std::size_t i = 0; i < reporting.size(); ++i) {
    reported.emplace(reporting[i], (*answers)[i]);
    remember(reporting[i], (*answers)[i]);
    if ((*answers)[i] != store::Reported::early) continue;
    if (const auto message = held(reporting[i])) terms_.early->keep(message->message, reports[i].progress);
  }
  return tell_broker(items, reported);
}

Result<store::SettleReport> BrokerClaims::tell_broker(std::span<const store::SettleItem> items,
                                                      const std::map<std::int64_t, store::Reported>& reported) {
  std::vector<Held> messages;
  std::vector<const store::SettleItem*> told;
  for (const store::SettleItem& item : items) {
    if (auto message = held(item.claim.batch)) {
      messages.push_back(*std::move(message));
      told.push_back(&item);
    }
  }
  std::vector<broker::Settlement> settlements;
  const Timestamp now = terms_.clock();
  for (std::size_t i = 0; i < told.size(); ++i) {
    broker::Settlement one{messages[i].token, What::done, {}};
    const Settlement& decided = told[i]->settlement;
    const auto answer = reported.find(told[i]->claim.batch);
    const bool stale = answer != reported.end() && answer->second == store::Reported::stale;
    const bool early = answer != reported.end() && answer->second == store::Reported::early;
    if (early || (decided.next == Status::pending && !stale)) {
      one.what = What::retry;
      one.delay = decided.not_before ? std::max(*decided.not_before - now, Duration::zero()) : decided.delay;
      if (early) one.delay = std::max(one.delay, kEarlyRest);
    }
    settlements.push_back(one);
  }
  store::SettleReport report;
  if (settlements.empty()) return report;
  SLUICE_TRY(const auto open, consumer());
  const auto answers = open->settle(settlements, kSettleDeadline);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      ++report.settled;
    } else if (answers[i].error().code == ErrorCode::conflict) {
      report.fenced.push_back(told[i]->claim.event_id);
    } else {
      return answers[i].error();
    }
  }
  return report;
}

Result<std::unique_ptr<store::EffectTransaction>> BrokerClaims::begin_effect(Duration longest_idle) {
  auto inner = terms_.store.begin_effect(longest_idle);
  if (!inner) {
    store_failed_ = true;
    return std::move(inner).error();
  }
  return std::unique_ptr<store::EffectTransaction>{std::make_unique<RelayedEffect>(*std::move(inner), *this)};
}

Result<std::vector<store::HandledKey>> BrokerClaims::already_handled(std::span<const store::HandledKey> keys) {
  auto found = terms_.store.already_handled(keys);
  if (!found) store_failed_ = true;
  return found;
}

Result<std::vector<Uuid>> BrokerClaims::heartbeat(std::span<const store::ClaimRef> claims, Duration /*ttl*/) {
  std::vector<Held> messages;
  std::vector<Uuid> ids;
  for (const store::ClaimRef& claim : claims) {
    if (auto message = held(claim.batch)) {
      messages.push_back(*std::move(message));
      ids.push_back(claim.event_id);
    }
  }
  std::vector<broker::Settlement> settlements;
  for (const Held& message : messages) settlements.push_back({message.token, What::progress, {}});
  std::vector<Uuid> lost;
  if (settlements.empty()) return lost;
  SLUICE_TRY(const auto open, consumer());
  const auto answers = open->settle(settlements, kSettleDeadline);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) continue;
    if (answers[i].error().code != ErrorCode::conflict) return answers[i].error();
    lost.push_back(ids[i]);
  }
  return lost;
}

}  // namespace sluice::runtime
