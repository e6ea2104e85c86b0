#include "runtime/handler_set.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {

Result<void> RegisteredHandler::validate() const {
  SLUICE_CHECK(subscription.validate());
  if (timeout < Duration::zero()) return invalid("timeout", "timeout must not be negative");
  if (concurrency < 0) return invalid("concurrency", "concurrency must not be negative");
  return retry.validate();
}

Result<void> HandlerSet::add(RegisteredHandler handler) {
  SLUICE_CHECK(handler.validate());
  if (!names_.insert(handler.name()).second) {
    return invalid("handler_name", "a handler named " + handler.name() + " is registered already");
  }
  auto semaphore = handler.concurrency > 0 ? std::make_unique<std::counting_semaphore<>>(handler.concurrency) : nullptr;
  entries_.push_back(std::make_unique<Entry>(Entry{std::move(handler), std::move(semaphore)}));
  return {};
}

const RegisteredHandler* HandlerSet::find(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry->handler.name() == name) return &entry->handler;
  }
  return nullptr;
}

std::vector<Interest> HandlerSet::interests() const {
  std::vector<Interest> all;
  for (const auto& entry : entries_) {
    for (Interest& interest : entry->handler.subscription.interests()) all.push_back(std::move(interest));
  }
  return all;
}

std::vector<Subscription> HandlerSet::subscriptions() const {
  std::vector<Subscription> all;
  for (const auto& entry : entries_) all.push_back(entry->handler.subscription);
  return all;
}

HandlerSet::Slot HandlerSet::slot(const RegisteredHandler& handler) const {
  for (const auto& entry : entries_) {
    if (&entry->handler == &handler) return Slot{entry->semaphore.get()};
  }
  return Slot{nullptr};
}

std::vector<std::string> RegistrySnapshot::matching(const Route& route) const {
  std::vector<std::string> names;
  for (const Subscription& subscription : subscriptions) {
    if (subscription.matches(route)) names.push_back(subscription.handler_name);
  }
  return names;
}

const std::vector<std::string>& RouteMemo::matching(const Route& route) {
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
    return one.event_type == route.event_type && one.channel == route.channel && one.target == route.target;
  });
  if (known != known_.end()) return known->handlers;
  const std::optional<std::string> target = route.target ? std::optional{std::string{*route.target}} : std::nullopt;
  known_.push_front({std::string{route.event_type}, target, std::string{route.channel}, registry_.matching(route)});
  return known_.front().handlers;
}

bool RegistrySnapshot::has_all(const std::vector<std::string>& handlers) const {
  return std::all_of(handlers.begin(), handlers.end(), [this](const std::string& name) {
    return std::any_of(subscriptions.begin(), subscriptions.end(),
                       [&](const Subscription& one) { return one.handler_name == name; });
  });
}

HandlerSet HandlerSet::only(std::string_view name) const {
  HandlerSet one;
  for (const auto& entry : entries_) {
    if (entry->handler.name() != name) continue;
    one.entries_.push_back(entry);
    one.names_.insert(entry->handler.name());
  }
  return one;
}

RegistryView::RegistryView(store::Observing& store, RegistryViewOptions options) : store_(&store), options_(options) {}

RegistryView::RegistryView(RegistrySnapshot fixed)
    : store_(nullptr), options_{}, current_(std::make_shared<RegistrySnapshot>(std::move(fixed))) {}

std::shared_ptr<const RegistrySnapshot> RegistryView::current() const {
  const std::lock_guard lock{mutex_};
  return current_;
}

// One at a time, so that what is read later is kept. Versions would not tell: a database that was created anew begins
// to count from the beginning.
Result<void> RegistryView::refresh() {
  if (store_ == nullptr) return {};
  const std::lock_guard one_at_a_time{refreshing_};
  SLUICE_TRY(auto registry, store_->registry(options_.generation));
  SLUICE_TRY(const auto workers, store_->workers(options_.alive_within));
  auto snapshot = std::make_shared<RegistrySnapshot>();
  snapshot->version = registry.version;
  snapshot->relay = registry.relay;
  for (store::SubscriptionRecord& record : registry.subscriptions) {
    snapshot->subscriptions.push_back(std::move(record.subscription));
  }
  for (const store::WorkerRecord& worker : workers) {
    if (worker.generation == options_.generation)
      snapshot->served.insert(worker.handlers.begin(), worker.handlers.end());
  }
  const std::lock_guard lock{mutex_};
  current_ = std::move(snapshot);
  return {};
}

}  // namespace sluice::runtime
