// consumer FILE: publishes one event to an embedded store, and handles it.
#include <future>
#include <iostream>

#include <sluice/listener.hpp>
#include <sluice/publisher.hpp>

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string store = std::string{"sqlite:"} + arguments[1];
  auto publisher = sluice::EventPublisher::open({.store = store});
  auto listener = sluice::EventListener::open({.store = store});
  if (!publisher || !listener) return 1;

  std::promise<std::string> handled;
  const auto listening = listener->listen({.handler_name = "outside.handler"}, [&](const sluice::EventEnvelope& event) {
    handled.set_value(event.event_type() + " " + event.payload());
  });
  if (!listening || !listener->start()) return 1;

  sluice::EnvelopeDraft draft = publisher->draft();
  draft.event_type = "outside.event";
  draft.source = "outside";
  draft.payload = R"({"n":1})";
  const auto event = sluice::EventEnvelope::make(std::move(draft));
  if (!event || !publisher->publish(*event)) return 1;
  std::cout << "handled " << handled.get_future().get() << '\n';
  listener->stop();
  return listener->status().delivered == 1 ? 0 : 1;
}
