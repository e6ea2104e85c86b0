#include "runtime/handler_set.hpp"

#include <utility>

namespace sluice::runtime {

Result<void> RegisteredHandler::validate() const {
  if (auto checked = subscription.validate(); !checked) return checked;
  if (timeout < Duration::zero()) return invalid("timeout", "timeout must not be negative");
  if (concurrency < 0) return invalid("concurrency", "concurrency must not be negative");
  return retry.validate();
}

Result<void> HandlerSet::add(RegisteredHandler handler) {
  if (auto checked = handler.validate(); !checked) return checked;
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

}  // namespace sluice::runtime
