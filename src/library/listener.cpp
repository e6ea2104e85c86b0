#include <sluice/listener.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "broker/open_broker.hpp"
#include "core/try.hpp"
#include "host/entropy.hpp"
#include "host/identity.hpp"
#include "library/opening.hpp"
#include "runtime/supervisor.hpp"

namespace sluice {

namespace {

// Claims, a handler's transaction, and now and then a probe.
constexpr int kConnectionsPerThread = 2;
constexpr int kServiceConnections = 5;

std::string own_context(const HandlerOptions& options) {
  return options.context.empty() ? std::string{scope_of(options.handler_name)} : options.context;
}

// The runtime names its own members; the user knows the options.
Result<void> in_terms_of_options(Result<void> result) {
  constexpr std::array kNames{std::pair{"event_types", "events"},
                              std::pair{"ttl", "claim_ttl"},
                              std::pair{"listener.poll", "poll"},
                              std::pair{"listener.safety_poll", "safety_poll"},
                              std::pair{"batch_max", "batch"},
                              std::pair{"workers", "threads"},
                              std::pair{"patrol.interval", "patrol_interval"},
                              std::pair{"patrol.overlooked_after", "patrol_overlooked_after"},
                              std::pair{"patrol.settled_again", "patrol_settled_again"}};
  if (result) return result;
  for (const auto& [theirs, ours] : kNames) {
    if (result.error().field == theirs) result.error().field = ours;
  }
  return result;
}

Result<runtime::RegisteredHandler> registered(HandlerOptions options, EventHandler handler, Generation generation) {
  Subscription subscription{options.handler_name, options.events, std::nullopt, std::nullopt};
  if (const std::string context = own_context(options); context != "*") subscription.context = context;
  if (!options.processing_class.empty()) {
    auto channel = compose_channel(generation, options.processing_class);
    if (!channel) return std::move(channel).error();
    subscription.channel = *std::move(channel);
  }
  return runtime::RegisteredHandler{std::move(subscription), std::move(handler),  std::move(options.retry),
                                    options.timeout,         options.concurrency, options.idempotent};
}

runtime::SupervisorOptions supervisor_options(const ListenerOptions& options, Generation generation,
                                              const std::string& identity) {
  constexpr int kFirstBatch = 10;
  runtime::SupervisorOptions made;
  made.worker.generation = generation;
  made.worker.identity = identity;
  made.declared_by = "listener:" + identity.substr(0, identity.find(':'));
  made.worker.batch_max = options.batch;
  made.worker.batch_min = std::min(kFirstBatch, options.batch);
  made.worker.ttl = options.claim_ttl;
  made.worker.uniform01 = host::uniform01;
  made.workers = options.threads;
  made.listener.poll = options.poll;
  made.listener.safety_poll = options.safety_poll;
  made.drain_timeout = options.drain_timeout;
  made.reap = options.reaper;
  made.sweep = options.retention;
  made.patrol.enabled = options.patrol;
  made.patrol.interval = options.patrol_interval;
  made.patrol.overlooked_after = options.patrol_overlooked_after;
  made.patrol.settled_again = options.patrol_settled_again;
  made.tracer = options.tracer.get();
  return made;
}

std::string kind_of(const BrokerAddress& address) {
  if (address.urls.empty()) return {};
  return address.urls.front().starts_with("redis") ? "redis" : "nats";
}

Result<std::unique_ptr<broker::Broker>> open_broker(const BrokerAddress& address) {
  if (address.urls.empty()) return std::unique_ptr<broker::Broker>{};
  broker::BrokerOptions options;
  options.urls = address.urls;
  options.user = address.user;
  options.password = address.password;
  options.token = address.token;
  options.credentials_file = address.credentials_file;
  options.tls_ca = address.tls_ca;
  options.tls_cert = address.tls_cert;
  options.tls_key = address.tls_key;
  options.tls_server_name = address.tls_server_name;
  options.prefix = address.stream;
  return broker::open_broker(std::move(options));
}

}  // namespace

Result<ListenerOptions> ListenerOptions::from_environment() {
  SLUICE_TRY(auto choice, library::choice_from_environment());
  ListenerOptions options;
  options.store = std::move(choice.store);
  options.generation = choice.generation;
  SLUICE_TRY(options.broker, library::broker_from_environment());
  return options;
}

class EventListener::Impl {
 public:
  Impl(library::OpenedStore opened, std::unique_ptr<broker::Broker> broker, ListenerOptions options,
       Generation generation)
      : opened_(std::move(opened)),
        broker_(std::move(broker)),
        options_(std::move(options)),
        generation_(generation),
        identity_(host::fresh_identity()) {}

  Result<void> listen(HandlerOptions options, EventHandler handler) {
    if (supervisor_) return invalid("handler_name", "handlers are registered before start()");
    SLUICE_TRY(auto made, registered(std::move(options), std::move(handler), generation_));
    return in_terms_of_options(handlers_.add(std::move(made)));
  }

  Result<void> start() {
    if (supervisor_) return invalid("start", "the listener was started before");
    auto logger = library::make_logger({options_.service, options_.environment, options_.log}, generation_);
    // A copy: whoever fails to start, because the database is away for a moment, may try again.
    auto wanted = supervisor_options(options_, generation_, identity_);
    wanted.broker = {.broker = broker_.get(),
                     .kind = kind_of(options_.broker),
                     .shards = options_.broker.shards,
                     .ack_wait = options_.broker.ack_wait};
    auto started = runtime::Supervisor::start(*opened_.store, handlers_, logger, std::move(wanted));
    if (!started) return in_terms_of_options(std::move(started).error());
    supervisor_ = *std::move(started);
    return {};
  }

  void stop() {
    if (!supervisor_) return;
    supervisor_->request_stop();
    supervisor_->join();
  }

  ListenerStatus status() const {
    ListenerStatus status;
    status.worker = identity_;
    status.state = "stopped";
    if (!supervisor_) return status;
    status.state = name(supervisor_->listener_state());
    const runtime::StepReport totals = supervisor_->totals();
    status.claimed = totals.claimed;
    status.delivered = totals.delivered;
    status.retried = totals.retried;
    status.failed = totals.failed;
    status.released = totals.released;
    status.fenced = totals.fenced;
    status.deduplicated = totals.deduplicated;
    return status;
  }

 private:
  library::OpenedStore opened_;
  std::unique_ptr<broker::Broker> broker_;  // none: deliveries come from the store alone
  ListenerOptions options_;
  Generation generation_;
  std::string identity_;
  runtime::HandlerSet handlers_;
  std::unique_ptr<runtime::Supervisor> supervisor_;  // last: its threads use the store
};

Result<EventListener> EventListener::open(ListenerOptions options) {
  if (options.threads < 1) return invalid("threads", "threads must be at least 1");
  if (options.batch < 1) return invalid("batch", "batch must be at least 1");
  SLUICE_TRY(auto opened,
             library::open_store(options.store, kServiceConnections + kConnectionsPerThread * options.threads));
  SLUICE_TRY(const auto generation, library::resolve_generation(options.generation, *opened.store));
  SLUICE_TRY(auto broker, open_broker(options.broker));
  return EventListener{std::make_unique<Impl>(std::move(opened), std::move(broker), std::move(options), generation)};
}

EventListener::EventListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventListener::EventListener(EventListener&&) noexcept = default;
EventListener& EventListener::operator=(EventListener&&) noexcept = default;
EventListener::~EventListener() {
  if (impl_) impl_->stop();
}

Result<void> EventListener::listen(HandlerOptions options, EventHandler handler) {
  return impl_->listen(std::move(options), std::move(handler));
}
Result<void> EventListener::start() { return impl_->start(); }
void EventListener::stop() { impl_->stop(); }
ListenerStatus EventListener::status() const { return impl_->status(); }

}  // namespace sluice
