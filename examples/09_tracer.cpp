// 09: traces of your own SDK. A tracer of a few lines stands for it: an order is published within a request, and the
// handler continues the same trace.
//
// Prints:
//   publish shop.order.placed, within the request
//   claim outbox_gen_1
//   the bank is called with the trace of the order
//   process shop.order.placed, caused by the publish
//   settle outbox_gen_1
#include <mutex>

#include <sluice/publisher.hpp>
#include <sluice/tracer.hpp>
#include "example.hpp"

namespace {

const std::string kTrace = "00-0af7651916cd43dd8448eb211c80319c-";
const std::string kRequest = kTrace + "b7ad6b7169203331-01";  // what is current in your SDK when the order comes in

// region: tracer
class OwnSpan final : public sluice::Span {
 public:
  OwnSpan(std::string name, std::string traceparent) : name_(std::move(name)), traceparent_(std::move(traceparent)) {}
  ~OwnSpan() override { std::cout << name_ + "\n"; }
  [[nodiscard]] std::string_view traceparent() const override { return traceparent_; }
  void set(std::string_view, std::string_view) override {}
  void set(std::string_view, std::int64_t) override {}
  void fail(std::string_view error_type, std::string_view) override { name_.append(" failed: ").append(error_type); }

 private:
  std::string name_;
  std::string traceparent_;
};

class OwnTracer final : public sluice::Tracer {
 public:
  std::unique_ptr<sluice::Span> start(const sluice::SpanStart& wanted) override {
    const std::lock_guard lock{mutex_};
    const bool publishes = wanted.kind == sluice::SpanKind::producer;
    const std::string parent{wanted.parent.empty() && publishes ? kRequest : wanted.parent};
    const std::string own = kTrace + std::to_string(1'000'000'000'000'000 + ++spans_) + "-01";
    std::string name = std::string{wanted.operation} + " " + std::string{wanted.destination};
    if (publishes && parent == kRequest) name += ", within the request";
    if (wanted.kind == sluice::SpanKind::consumer && parent == published_) name += ", caused by the publish";
    if (publishes) published_ = own;
    return std::make_unique<OwnSpan>(std::move(name), own);
  }

 private:
  std::mutex mutex_;
  int spans_ = 0;
  std::string published_;
};
// end region

example::Progress charged;

// region: handler
void charge(const sluice::EventEnvelope&, const sluice::Delivery& delivery) {
  // The header of the call: `traceparent: 00-0af7…`
  const bool same = delivery.traceparent().starts_with(kTrace);
  std::cout << (same ? "the bank is called with the trace of the order\n" : "the trace is lost\n");
  charged.add();
}
// end region

}  // namespace

int main() {
  const example::Store store;
  const auto tracer = std::make_shared<OwnTracer>();
  // region: open
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address(), .tracer = tracer}));
  auto listener =
      example::required(sluice::EventListener::open({.store = store.address(), .threads = 1, .tracer = tracer}));
  // end region
  sluice::EnvelopeDraft draft = publisher.draft();
  draft.event_type = "shop.order.placed";
  draft.source = "shop";
  example::required(publisher.publish(example::required(sluice::EventEnvelope::make(std::move(draft)))));

  example::required(listener.listen({.handler_name = "billing.charge", .events = {"shop.*"}}, charge));
  example::required(listener.start());
  charged.await(1);
  listener.stop();
  return listener.status().delivered == 1 ? 0 : 1;
}
