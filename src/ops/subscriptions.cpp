#include "ops/subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"
#include "ops/event_query.hpp"

namespace sluice::ops {
namespace {

constexpr Duration kRemembered = std::chrono::hours{24};

std::int64_t hosts(const std::vector<store::WorkerRecord>& workers, const store::SubscriptionRecord& record) {
  return std::count_if(workers.begin(), workers.end(), [&](const store::WorkerRecord& worker) {
    const auto& handlers = worker.handlers;
    return worker.generation == record.generation &&
           std::find(handlers.begin(), handlers.end(), record.subscription.handler_name) != handlers.end();
  });
}

Route route_of(const store::EventRecord& event) {
  const auto& target = event.envelope.target();
  return {event.envelope.event_type(), target ? std::optional<std::string_view>{*target} : std::nullopt, event.channel};
}

/// An event that was tried lists the handlers that it still waits for; a new one waits for all that match.
bool waits_for(const store::EventRecord& event, const Subscription& subscription) {
  if (event.progress.empty()) return subscription.matches(route_of(event));
  return std::any_of(event.progress.begin(), event.progress.end(),
                     [&](const HandlerProgress& one) { return one.handler_name == subscription.handler_name; });
}

class Count {
 public:
  Count(const std::vector<SubscriptionStatus>& all, UnsubscribePlan& plan) : all_(all), plan_(plan) {}

  void add(const store::EventRecord& event) {
    const auto& removed = plan_.subscription.record;
    if (!waits_for(event, removed.subscription)) return;
    ++plan_.waiting;
    const Route route = route_of(event);
    const bool wanted = std::any_of(all_.begin(), all_.end(), [&](const SubscriptionStatus& other) {
      return other.record.generation == removed.generation &&
             other.record.subscription.handler_name != removed.subscription.handler_name &&
             other.record.subscription.matches(route);
    });
    if (!wanted) ++plan_.orphaned;
  }

 private:
  const std::vector<SubscriptionStatus>& all_;
  UnsubscribePlan& plan_;
};

}  // namespace

Result<WorkerList> list_workers(store::Administering& store) {
  SLUICE_TRY(const auto now, store.now());
  SLUICE_TRY(auto workers, store.workers(kRemembered));
  return WorkerList{now, std::move(workers)};
}

Result<std::vector<store::WorkerRecord>> live_workers(store::Administering& store) {
  return store.workers(kAliveWithin);
}

bool is_alive(const store::WorkerRecord& worker, Timestamp now) { return worker.seen_at > now - kAliveWithin; }

bool is_listening(const store::WorkerRecord& worker) {
  // One that pulls is woken by the daemon that it asks; one that starts looks before it rests.
  return worker.listener == "listening" || worker.listener == "pulling" || worker.listener == "starting";
}

std::string to_json(const store::WorkerRecord& worker, Timestamp now) {
  return JsonObject{}
      .text("identity", worker.identity)
      .number("generation", worker.generation)
      .texts("handlers", worker.handlers)
      .text("listener", worker.listener)
      .time("started_at", worker.started_at)
      .time("seen_at", worker.seen_at)
      .boolean("alive", is_alive(worker, now))
      .str();
}

Result<std::vector<SubscriptionStatus>> list_subscriptions(store::Administering& store) {
  SLUICE_TRY(auto records, store.subscriptions());
  SLUICE_TRY(const auto workers, store.workers(kAliveWithin));
  std::vector<SubscriptionStatus> all;
  for (auto& record : records) {
    const std::int64_t count = hosts(workers, record);
    all.push_back({std::move(record), count});
  }
  return all;
}

Result<UnsubscribePlan> plan_unsubscribe(store::Administering& store, Generation generation,
                                         const std::string& handler_name, int look) {
  SLUICE_TRY(const auto all, list_subscriptions(store));
  const auto found = std::find_if(all.begin(), all.end(), [&](const SubscriptionStatus& one) {
    return one.record.generation == generation && one.record.subscription.handler_name == handler_name;
  });
  if (found == all.end()) {
    return Error{ErrorCode::not_found, Retry::never,
                 "handler " + handler_name + " has no subscription in generation " + std::to_string(generation),
                 "handler_name", "`sluice subscription list` shows what there is"};
  }
  UnsubscribePlan plan{*found};
  Count count{all, plan};
  store::EventFilter filter;
  filter.status = Status::pending;
  filter.generation = generation;
  std::optional<std::int64_t> before;
  for (int looked = 0; plan.complete;) {
    SLUICE_TRY(const auto page, store.list_events(filter, std::min(kMaxPage, look - looked), before));
    for (const auto& event : page.events) count.add(event);
    looked += static_cast<int>(page.events.size());
    if (!page.next) break;
    before = page.next;
    plan.complete = looked < look;
  }
  return plan;
}

Result<UnsubscribePlan> unsubscribe(store::Administering& store, Generation generation, const std::string& handler_name,
                                    const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_TRY(auto plan, plan_unsubscribe(store, generation, handler_name));
  SLUICE_CHECK(store.unsubscribe(generation, handler_name, actor));
  return plan;
}

std::string to_json(const SubscriptionStatus& status) {
  const Subscription& subscription = status.record.subscription;
  return JsonObject{}
      .number("generation", status.record.generation)
      .text("handler_name", subscription.handler_name)
      .texts("event_types", subscription.event_types)
      .text("context", subscription.context)
      .text("channel", subscription.channel)
      .time("registered_at", status.record.registered_at)
      .text("declared_by", status.record.declared_by)
      .time("served_at", status.record.served_at)
      .number("workers", status.workers)
      .str();
}

std::string to_json(const UnsubscribePlan& plan, bool dry_run) {
  return JsonObject{}
      .boolean("dry_run", dry_run)
      .raw("subscription", to_json(plan.subscription))
      .number("waiting", plan.waiting)
      .number("orphaned", plan.orphaned)
      .boolean("complete", plan.complete)
      .str();
}

}  // namespace sluice::ops
