// The relay: claims every event that somebody subscribes to, publishes it to the broker, and settles it as delivered
// when the broker has answered. It is a handler like any other, so claims, retries, fencing and logs are those of a
// worker; RelayClaims gives it the claims of all handlers and takes care of what is theirs.
//
// Thread-safety: one per worker.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/tracer.hpp>
#include "broker/broker.hpp"
#include "runtime/broker_message.hpp"
#include "runtime/handler_set.hpp"
#include "store/claim.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::runtime {

/// The handler under which the relay runs; it subscribes to nothing.
inline constexpr std::string_view kRelayHandler = "sluice.relay";

struct RelayTerms {
  store::Claiming& store;
  broker::Broker& broker;
  RegistryView& everybody;  ///< whose subscriptions say what to claim, and whether the relay is on
  std::string kind;         ///< nats, redis: relays only while the switch names it
  int shards = 16;
  Duration publish_deadline = std::chrono::seconds{10};
  Tracer* tracer = nullptr;                 ///< none: nothing is traced
  telemetry::MetricSet* metrics = nullptr;  ///< none: nothing is measured
};

class RelayClaims final : public store::Claiming {
 public:
  /// What the terms refer to outlives it.
  explicit RelayClaims(RelayTerms terms) : terms_(std::move(terms)) {}

  /// Nothing while the switch is not on. While the broker is away or full nothing is claimed either: the error is the
  /// broker's.
  Result<std::vector<store::ClaimedEvent>> claim(const store::ClaimRequest& request) override;
  /// What was not relayed goes back as it came.
  using Claiming::settle;
  Result<store::SettleReport> settle(std::span<const store::SettleItem> items,
                                     std::optional<store::RegistryVersion> based_on) override;
  /// The verdict on each of these events, which were claimed here.
  std::vector<Verdict> publish(std::span<const EventEnvelope> events, const std::stop_token& stop);

  Result<std::unique_ptr<store::EffectTransaction>> begin_effect(Duration longest_idle) override {
    return terms_.store.begin_effect(longest_idle);
  }
  Result<std::vector<Uuid>> heartbeat(std::span<const store::ClaimRef> claims, Duration ttl) override {
    return terms_.store.heartbeat(claims, ttl);
  }
  Result<std::vector<store::HandledKey>> already_handled(std::span<const store::HandledKey> keys) override {
    return terms_.store.already_handled(keys);
  }
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
  struct Origin {
    store::ClaimedEvent event;
    std::int64_t replay = 0;
  };
  [[nodiscard]] bool is_on() const;
  Result<void> check_broker();
  Result<void> give_back(const std::vector<store::ClaimedEvent>& events);
  Result<void> number_replays(std::vector<store::ClaimedEvent>& events);
  Verdict verdict_on(const Result<broker::Taken>& answer);
  void count(const std::vector<Result<broker::Taken>>& answers);
  void count_error(const Error& error);

  RelayTerms terms_;
  std::map<Uuid, Origin> claimed_;  // as they came, until the next claim
  std::optional<Error> refusal_;    // by the broker, since it was looked at last
  bool trouble_told_ = false;       // what was found when it was looked at
};

/// The batch handler that publishes what these claims hold.
RegisteredHandler relay_handler(RelayClaims& claims);

}  // namespace sluice::runtime
