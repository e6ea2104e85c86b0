// 00: the smallest whole program: a publisher and a handler on a store in the present folder.
//
// Prints:
//   hello, ann
// region: program
#include <future>
#include <iostream>

#include <sluice/listener.hpp>
#include <sluice/publisher.hpp>

int main() {
  const std::string store = "sqlite:first.db";  // or postgres://…
  auto publisher = sluice::EventPublisher::open({.store = store});
  auto listener = sluice::EventListener::open({.store = store});
  if (!publisher || !listener) return 1;

  std::promise<void> greeted;
  const auto greet = [&](const sluice::EventEnvelope& event) {
    std::cout << "hello, " << event.payload().substr(9, 3) << '\n';
    greeted.set_value();
  };
  if (!listener->listen({.handler_name = "mail.greeter", .events = {"user.*"}}, greet)) return 1;
  if (!listener->start()) return 1;

  sluice::EnvelopeDraft draft = publisher->draft();
  draft.event_type = "user.joined";
  draft.source = "accounts";
  draft.payload = R"({"user":"ann"})";
  const auto event = sluice::EventEnvelope::make(draft);
  if (!event || !publisher->publish(*event)) return 1;

  greeted.get_future().wait();
  listener->stop();
  return 0;
}
// end region
