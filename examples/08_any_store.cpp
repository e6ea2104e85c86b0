// 08: one source, any carrier. SLUICE_STORE names SQLite or PostgreSQL; SLUICE_BROKER, while `sluice ladder relay` has
// turned the relay on, names NATS or Redis. The handler does not know.
//
// Prints:
//   order 1: attempt 1
//   order 1: attempt 2
//   order 2: attempt 1
//   order 3: attempt 1
//   3 orders booked once
#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

example::Progress booked;

// region: handler
void book(const sluice::EventEnvelope& event, sluice::Transaction& transaction, const sluice::Delivery& delivery) {
  const std::string number = event.payload().substr(event.payload().find_first_of("123"), 1);
  const int attempt = delivery.attempts.front() + 1;
  std::cout << "order " << number << ": attempt " << attempt << std::endl;
  transaction.execute("insert into example_orders (number) values ($1)", {number});
  // What was written above is undone with the attempt.
  if (number == "1" && attempt == 1) throw std::runtime_error("the ledger is locked");
  booked.add();
}
// end region

void publish(sluice::EventPublisher& publisher, int number) {
  sluice::EnvelopeDraft draft = publisher.draft();
  draft.event_type = "shop.order.paid";
  draft.source = "shop";
  draft.payload = R"({"number":)" + std::to_string(number) + "}";
  sluice::Routing routing;
  routing.ordering_key = "shop-1";
  example::required(publisher.publish(example::required(sluice::EventEnvelope::make(std::move(draft))), routing));
}

}  // namespace

int main() {
  const example::Store store;
  sluice::ListenerOptions options;
  if (auto chosen = sluice::ListenerOptions::from_environment()) options = *std::move(chosen);
  options.store = store.address();
  auto listener = example::required(sluice::EventListener::open(options));
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));

  // The table is made by a handler of its own, in the same database.
  example::Progress made;
  example::required(listener.listen({.handler_name = "shop.setup", .events = {"shop.opened"}},
                                    [&](const sluice::EventEnvelope&, sluice::Transaction& transaction) {
                                      transaction.execute("create table if not exists example_orders (number text)");
                                      made.add();
                                    }));
  example::required(listener.listen(
      {.handler_name = "shop.books", .events = {"shop.order.*"}, .retry = example::quick_retry()}, book));
  example::required(listener.start());
  sluice::EnvelopeDraft opened = publisher.draft();
  opened.event_type = "shop.opened";
  opened.source = "shop";
  example::required(publisher.publish(example::required(sluice::EventEnvelope::make(std::move(opened)))));
  made.await(1);
  for (int number = 1; number <= 3; ++number) publish(publisher, number);
  booked.await(3);
  listener.stop();
  std::cout << "3 orders booked once\n";
  return 0;
}
