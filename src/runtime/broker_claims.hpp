// BrokerClaims: the messages of one handler, as the workers know claims. What fetches, acknowledges and retries is the
// broker; what was handled, how often it was tried and what has failed is in the store. So the same worker, dispatcher
// and decisions serve both.
//
// A message is settled after the store has written what became of it: whatever is lost in between comes again, and the
// dedup row stops it.
//
// Thread-safety: heartbeat from any thread; the rest from one.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "broker/broker.hpp"
#include "runtime/handler_set.hpp"
#include "store/claim.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

/// What the workers of one handler could not report yet, because the relay had not settled the event: the message comes
/// again, and then the attempt is known.
class EarlyReports {
 public:
  void keep(const std::string& message, const HandlerProgress& progress) {
    const std::lock_guard lock{mutex_};
    if (kept_.size() >= kMost) kept_.clear();
    kept_.insert_or_assign(message, progress);
  }
  std::optional<HandlerProgress> take(const std::string& message) {
    const std::lock_guard lock{mutex_};
    const auto found = kept_.find(message);
    if (found == kept_.end()) return std::nullopt;
    HandlerProgress progress = std::move(found->second);
    kept_.erase(found);
    return progress;
  }

 private:
  static constexpr std::size_t kMost = 10'000;  // what is forgotten counts as an attempt of an unknown end
  std::mutex mutex_;
  std::map<std::string, HandlerProgress> kept_;
};

struct ConsumerTerms {
  store::Claiming& store;
  broker::Broker& broker;
  const RegistryView& everybody;  ///< the subscriptions of all handlers
  Subscription subscription;
  Generation generation = kFirstGeneration;
  int shards = 16;
  int max_unsettled = 256;
  Duration ack_wait = std::chrono::seconds{60};
  Duration fetch_wait = std::chrono::milliseconds{500};  ///< a claim waits so long for a first message
  std::function<Timestamp()> clock;
  std::shared_ptr<EarlyReports> early = std::make_shared<EarlyReports>();
  telemetry::Logger logger;
};

class BrokerClaims final : public store::Claiming {
 public:
  /// What the terms refer to outlives it. Connects with the first claim.
  explicit BrokerClaims(ConsumerTerms terms) : terms_(std::move(terms)) {}

  /// Fetches. Only the limit of the request counts.
  Result<std::vector<store::ClaimedEvent>> claim(const store::ClaimRequest& request) override;
  using Claiming::settle;
  Result<store::SettleReport> settle(std::span<const store::SettleItem> items,
                                     std::optional<store::RegistryVersion> based_on) override;
  Result<std::unique_ptr<store::EffectTransaction>> begin_effect(Duration longest_idle) override;
  /// What is committed and could not be told to the broker: the next claim tells it first.
  void settle_later(std::vector<store::SettleItem> items);
  Result<std::vector<Uuid>> heartbeat(std::span<const store::ClaimRef> claims, Duration ttl) override;
  Result<std::vector<store::HandledKey>> already_handled(std::span<const store::HandledKey> keys) override;
  Result<std::vector<store::Reported>> report(std::span<const store::ConsumerReport> reports) override {
    return terms_.store.report(reports);
  }
  Result<std::vector<store::RelayedEvent>> relayed(std::span<const Uuid> ids) override {
    return terms_.store.relayed(ids);
  }
  Result<std::string> token_secret() override { return terms_.store.token_secret(); }
  using Claiming::subscribe;
  Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions,
                         const std::string& declared_by) override {
    return terms_.store.subscribe(generation, subscriptions, declared_by);
  }
  Result<void> announce(const store::WorkerRecord& worker) override { return terms_.store.announce(worker); }
  Result<void> depart(const std::string& identity) override { return terms_.store.depart(identity); }

 private:
  /// A message under way.
  struct Held {
    std::string token;
    std::string message;  ///< its id
    std::int64_t replay = 0;
    std::int64_t delivered = 1;
    HandlerProgress before;  ///< of this handler, when the attempt began
    std::string idempotency_key;
    std::optional<store::Reported> reported{};  ///< what the store has answered; only the broker is to be told then
  };
  struct Fetched {
    store::ClaimedEvent event;
    Held held;
  };
  Result<std::shared_ptr<broker::Consumer>> consumer();
  Result<std::vector<broker::IncomingMessage>> fetch(int limit);
  /// Those of them that the handler is to be given; the others are done.
  Result<std::vector<Fetched>> wanted_of(std::vector<broker::IncomingMessage> messages);
  std::vector<Fetched> sort_out(std::vector<broker::IncomingMessage> messages, std::vector<std::string>& over);
  Result<void> recall(std::vector<Fetched>& fetched, std::vector<std::string>& over);
  [[nodiscard]] HandlerProgress progress_after(const Held& held, const Settlement& settlement) const;
  std::optional<Held> held(std::int64_t number) const;
  void remember(std::int64_t number, store::Reported answer);
  Result<store::SettleReport> tell_broker(std::span<const store::SettleItem> items,
                                          const std::map<std::int64_t, store::Reported>& reported);
  Result<void> check_store();
  Result<void> settle_untold();

  ConsumerTerms terms_;
  mutable std::mutex mutex_;  // guards the two below
  std::shared_ptr<broker::Consumer> consumer_;
  std::map<std::int64_t, Held> held_;  // by ClaimRef::batch
  std::int64_t next_ = 1;
  std::vector<store::SettleItem> untold_;  // of the last batch
  Timestamp untold_until_{};
  bool store_failed_ =
      false;  // nothing is fetched before it has answered again: a delivery would be counted for nothing
};

}  // namespace sluice::runtime
