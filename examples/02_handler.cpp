// 02: a handler. One event fails twice and then succeeds; one cannot succeed and goes to the dead-letter
// queue at once.
//
// Prints:
//   welcome ann: attempt 1
//   welcome ann: attempt 2
//   welcome ann: attempt 3
//   nobody has no address
//   delivered 1, retried 2, failed 1
#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

example::Progress finished;

// region: handler
void send_welcome(const sluice::EventEnvelope& event, const sluice::Delivery& delivery) {
  if (event.payload().find("ann") == std::string::npos) {
    std::cout << "nobody has no address\n";
    finished.add();
    throw sluice::TerminalError{"the user has no mail address"};
  }
  const int attempt = delivery.attempts.front() + 1;
  std::cout << "welcome ann: attempt " << attempt << '\n';
  if (attempt < 3) throw std::runtime_error("the mail server does not answer");
  finished.add();
}
// end region

void publish(sluice::EventPublisher& publisher, const std::string& user) {
  sluice::EnvelopeDraft draft = publisher.draft();
  draft.event_type = "accounts.user.joined";
  draft.source = "accounts";
  draft.payload = R"({"user":")" + user + R"("})";
  example::required(publisher.publish(example::required(sluice::EventEnvelope::make(std::move(draft)))));
}

}  // namespace

int main() {
  const example::Store store;
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));

  // region: listen
  auto listener = example::required(sluice::EventListener::open({.store = store.address()}));
  example::required(listener.listen({.handler_name = "mail.welcome",
                                     .events = {"accounts.user.*"},
                                     .retry = example::quick_retry(),
                                     .concurrency = 1},
                                    send_welcome));
  example::required(listener.start());
  // end region

  publish(publisher, "ann");
  finished.await(1);
  publish(publisher, "nobody");
  finished.await(2);
  listener.stop();

  const sluice::ListenerStatus status = listener.status();
  std::cout << "delivered " << status.delivered << ", retried " << status.retried << ", failed " << status.failed
            << '\n';
  return status.delivered == 1 && status.retried == 2 && status.failed == 1 ? 0 : 1;
}
