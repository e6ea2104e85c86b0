// The pools of a process that consume from a broker, the one that relays to it, and what the process says of the
// switch.
#include <utility>

#include "host/entropy.hpp"
#include "runtime/broker_claims.hpp"
#include "runtime/relay.hpp"
#include "runtime/supervisor.hpp"

namespace sluice::runtime {

// They run whatever the switch says: after it was turned back they finish what the broker still has.
void Supervisor::add_consumers(const PoolOptions& pool) {
  for (const std::string& name : pool.handlers.names()) {
    PoolOptions own;
    own.name = "consumer:" + name;
    own.handlers = pool.handlers.only(name);
    own.workers = pool.workers;
    own.source = [this, handlers = own.handlers, name, early = std::make_shared<EarlyReports>()]() -> WorkerSource {
      const Subscription& subscription = handlers.find(name)->subscription;
      RegistrySnapshot alone;
      alone.subscriptions = {subscription};
      alone.served = {name};
      ConsumerTerms terms{.store = store_,
                          .broker = *options_.broker.broker,
                          .everybody = registry_,
                          .subscription = subscription,
                          .generation = options_.worker.generation,
                          .shards = options_.broker.shards,
                          .max_unsettled = options_.broker.max_unsettled,
                          .ack_wait = options_.broker.ack_wait,
                          .clock = host::wall_clock,
                          .early = early,
                          .logger = logger_};
      return {std::make_shared<BrokerClaims>(std::move(terms)), std::make_shared<RegistryView>(std::move(alone)),
              handlers, true};
    };
    PoolEnvironment environment = pool_environment();
    environment.renew_within = options_.broker.ack_wait;
    environment.on_busy = [](bool) {};
    broker_pools_.push_back(std::make_unique<WorkerPool>(std::move(environment), std::move(own)));
  }
}

void Supervisor::add_relay() {
  PoolOptions own;
  own.name = std::string{store::kRelayMark.substr(1)} + options_.broker.kind;
  own.workers = options_.broker.relay_workers;
  own.batch_max = options_.broker.relay_batch;
  own.source = [this]() -> WorkerSource {
    auto claims = std::make_shared<RelayClaims>(RelayTerms{.store = store_,
                                                           .broker = *options_.broker.broker,
                                                           .everybody = registry_,
                                                           .kind = options_.broker.kind,
                                                           .shards = options_.broker.shards,
                                                           .tracer = options_.tracer,
                                                           .metrics = options_.metrics});
    RegisteredHandler handler = relay_handler(*claims);
    RegistrySnapshot alone;
    alone.subscriptions = {handler.subscription};
    alone.served = {handler.name()};
    HandlerSet handlers;
    static_cast<void>(handlers.add(std::move(handler)).has_value());  // the only one
    return {claims, std::make_shared<RegistryView>(std::move(alone)), std::move(handlers), false};
  };
  PoolEnvironment environment = pool_environment();
  environment.on_busy = [](bool) {};
  // A delivery is measured where its handler runs, and traced there; the relay has a span for each publish. That the
  // event is delivered counts here, once for all its handlers.
  environment.metrics = nullptr;
  environment.history = &options_.metrics->history;
  environment.tracer = nullptr;
  broker_pools_.push_back(std::make_unique<WorkerPool>(std::move(environment), std::move(own)));
}

bool Supervisor::lacks_broker() const {
  const store::RelaySwitch relay = registry_.current()->relay;
  return !relay.claims_here() && !pools_.empty() &&
         (options_.broker.broker == nullptr || options_.broker.kind != relay.broker);
}

// Said once per change: who reads the log sees why nothing is delivered here.
void Supervisor::note_relay() {
  const store::RelaySwitch relay = registry_.current()->relay;
  if (relay.state == seen_relay_.state && relay.broker == seen_relay_.broker) return;
  seen_relay_ = relay;
  notifier_.announce();
  if (relay.claims_here()) {
    logger_.info("the relay is off: this worker claims from the database");
  } else if (lacks_broker()) {
    logger_.error("deliveries go through " + relay.broker +
                  ", and this worker has no such broker configured: it delivers nothing until it has one");
  } else {
    logger_.info("the relay is " + std::string{name(relay.state)} + ": deliveries come from " + relay.broker);
  }
}

}  // namespace sluice::runtime
