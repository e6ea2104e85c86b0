// 03: exactly once. The handler's effect, the record that it was handled and the event's delivery are one
// transaction: a failed attempt leaves nothing, and a repeated event changes nothing.
//
// Prints:
//   received 250, and the power fails
//   received 250
//   received 100
//   balance 350
//   delivered 5, of them repeated 1
#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

example::Progress closed;
std::atomic<bool> power_has_failed = false;

// region: handler
void receive(const sluice::EventEnvelope& event, sluice::Transaction& transaction) {
  const std::string cents = event.payload().substr(event.payload().find_first_of("0123456789"), 3);
  transaction.execute("update wallets set cents = cents + $1 where owner = $2", {cents, "ann"});
  if (!power_has_failed.exchange(true)) {
    std::cout << "received " << cents << ", and the power fails\n";
    throw std::runtime_error("the power fails");
  }
  std::cout << "received " << cents << '\n';
}
// end region

void open_wallet(const sluice::EventEnvelope&, sluice::Transaction& transaction) {
  transaction.execute("drop table if exists wallets");
  transaction.execute("create table wallets (owner text primary key, cents bigint not null)");
  transaction.execute("insert into wallets values ($1, 0)", {"ann"});
}

void close_day(const sluice::EventEnvelope&, sluice::Transaction& transaction) {
  const auto rows = transaction.query("select cents from wallets where owner = $1", {"ann"});
  std::cout << "balance " << rows.at(0).at(0).value_or("unknown") << '\n';
  closed.add();
}

struct Bank {
  sluice::EventPublisher publisher;
  std::string day = publisher.draft().event_id.to_string();

  // The ordering key keeps the wallet's events in order. A producer that is not sure whether it has told
  // about a payment tells again, under the same idempotency key.
  void tell(const std::string& type, const std::string& payload, const std::string& key) {
    sluice::EnvelopeDraft draft = publisher.draft();
    draft.event_type = "bank." + type;
    draft.source = "bank";
    draft.payload = payload;
    draft.idempotency_key = day + "/" + key;
    const auto event = example::required(sluice::EventEnvelope::make(std::move(draft)));
    example::required(publisher.publish(event, {.ordering_key = "wallet of ann"}));
  }
};

}  // namespace

int main() {
  const example::Store store;
  Bank bank{example::required(sluice::EventPublisher::open({.store = store.address()}))};
  bank.tell("wallet.opened", "{}", "open");
  bank.tell("payment.received", R"({"cents":250})", "payment 1");
  bank.tell("payment.received", R"({"cents":250})", "payment 1");
  bank.tell("payment.received", R"({"cents":100})", "payment 2");
  bank.tell("day.closed", "{}", "close");

  auto listener = example::required(sluice::EventListener::open({.store = store.address()}));
  const auto handle = [&](const char* name, const char* type, auto handler) {
    example::required(
        listener.listen({.handler_name = name, .events = {type}, .retry = example::quick_retry()}, handler));
  };
  handle("wallets.opener", "bank.wallet.opened", open_wallet);
  handle("wallets.receiver", "bank.payment.received", receive);
  handle("wallets.closer", "bank.day.closed", close_day);
  example::required(listener.start());
  closed.await(1);
  listener.stop();

  const sluice::ListenerStatus status = listener.status();
  std::cout << "delivered " << status.delivered << ", of them repeated " << status.deduplicated << '\n';
  return status.delivered == 5 && status.deduplicated == 1 ? 0 : 1;
}
