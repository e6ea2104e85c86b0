// 06: a coroutine. The handler awaits a mail server that answers on a thread of its own, and goes on there;
// meanwhile the listener has started the others.
//
// Prints:
//   3 letters were on their way at once
//   receipt 1
//   receipt 2
//   receipt 3
//   delivered 3
#include <condition_variable>
#include <coroutine>
#include <mutex>
#include <thread>
#include <vector>

#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

/// Answers when three letters have arrived, in the order in which they came.
class MailServer {
 public:
  struct Receipt {
    MailServer& server;
    int number = 0;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> sender) { server.accept(*this, sender); }
    int await_resume() const noexcept { return number; }
  };
  Receipt send() { return {*this}; }

 private:
  struct Letter {
    Receipt& receipt;
    std::coroutine_handle<> sender;
  };

  void accept(Receipt& receipt, std::coroutine_handle<> sender) {
    const std::lock_guard lock{mutex_};
    letters_.push_back({receipt, sender});
    arrived_.notify_one();
  }

  void answer() {
    std::unique_lock lock{mutex_};
    arrived_.wait(lock, [this] { return letters_.size() == 3; });
    std::cout << letters_.size() << " letters were on their way at once\n";
    lock.unlock();
    int number = 0;
    for (const Letter& letter : letters_) {
      letter.receipt.number = ++number;
      letter.sender.resume();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Letter> letters_;
  std::jthread postman_{[this] { answer(); }};  // last: it uses the rest
};

}  // namespace

int main() {
  const example::Store store;
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));
  std::vector<sluice::EventEnvelope> events;
  for (int i = 0; i < 3; ++i) {
    sluice::EnvelopeDraft draft = publisher.draft();
    draft.event_type = "accounts.password.forgotten";
    draft.source = "accounts";
    events.push_back(example::required(sluice::EventEnvelope::make(std::move(draft))));
  }
  example::required(publisher.publish(events));

  MailServer server;
  example::Progress sent;
  // region: handler
  const auto send_link = [&](const sluice::EventEnvelope&) -> sluice::Task {
    MailServer::Receipt sending = server.send();
    const int receipt = co_await sending;
    std::cout << "receipt " << receipt << '\n';
    sent.add();
  };
  // end region
  auto listener = example::required(sluice::EventListener::open({.store = store.address()}));
  example::required(
      listener.listen({.handler_name = "mail.link_sender", .events = {"accounts.password.*"}}, send_link));
  example::required(listener.start());
  sent.await(3);
  listener.stop();
  std::cout << "delivered " << listener.status().delivered << '\n';
  return listener.status().delivered == 3 ? 0 : 1;
}
