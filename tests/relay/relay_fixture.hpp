// A relay, its consumers and a broker of either kind, over a real database: who publishes does not know of them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/broker/broker_fixture.hpp"
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/recording_tracer.hpp"

namespace sluice::test {

inline const store::Actor kOperator{"alice", "test", "for the test"};

/// Times of a process whose workers see a turned switch soon.
inline runtime::SupervisorOptions relaying_options(const std::string& identity) {
  runtime::SupervisorOptions options = patient_options(identity);
  options.presence_interval = 50ms;
  options.listener.poll = 200ms;
  options.listener.safety_poll = 200ms;
  options.reap_interval = 200ms;
  options.worker.ttl = 30s;
  return options;
}

class RelayTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    admin_ = open_broker();
    const auto made = admin_->ensure({});
    ASSERT_TRUE(made) << made.error().message;
    sql("create table public.effects (handler text, event_id uuid, place bigint, n bigint generated always as "
        "identity)");
  }

  [[nodiscard]] static std::string kind_name() { return GetParam() == Kind::nats ? "nats" : "redis"; }
  std::unique_ptr<broker::Broker> open_broker() const { return opened({.urls = {server_.url()}}); }
  store::Store& store() { return *store_; }
  SqlSession::Answer sql(const std::string& text) { return SqlSession{database_.url()}.must(text); }
  std::int64_t count(const std::string& what) { return std::stoll(sql("select count(*) from " + what).value()); }
  void turn(store::RelayState to) {
    const auto turned = store().switch_relay(to, to == store::RelayState::off ? "" : kind_name(), kOperator);
    ASSERT_TRUE(turned) << turned.error().message;
  }

  [[nodiscard]] runtime::BrokerTerms terms(broker::Broker& broker, bool relay) const {
    return {.broker = &broker, .kind = kind_name(), .shards = 4, .ack_wait = 5s, .relay = relay};
  }

  /// A process that relays and hosts no handler.
  std::unique_ptr<DeliveringProcess> relaying(const std::string& identity = "relayer",
                                              std::unique_ptr<store::Store> store = nullptr) {
    auto options = relaying_options(identity);
    brokers_.push_back(open_broker());
    options.broker = terms(*brokers_.back(), true);
    options.tracer = &tracer_;
    options.metrics = &relayed_;
    return std::make_unique<DeliveringProcess>(store ? std::move(store) : open_store(database_.url()),
                                               std::vector<runtime::RegisteredHandler>{}, options);
  }
  std::unique_ptr<DeliveringProcess> consuming(const std::string& identity,
                                               std::vector<runtime::RegisteredHandler> handlers,
                                               Duration ack_wait = 5s) {
    auto options = relaying_options(identity);
    brokers_.push_back(open_broker());
    options.broker = terms(*brokers_.back(), false);
    options.broker.ack_wait = ack_wait;
    options.tracer = &tracer_;
    options.workers = 2;
    return std::make_unique<DeliveringProcess>(open_store(database_.url()), std::move(handlers), options);
  }

  /// Its effect is a row, in the transaction of its dedup row; the payload is kept as the place.
  static runtime::RegisteredHandler booking(const std::string& name) {
    return {.subscription = {.handler_name = name},
            .handler =
                [name](const EventEnvelope& event, Transaction& transaction) {
                  transaction.execute("insert into public.effects values ($1, $2::uuid, ($3::jsonb ->> 'n')::bigint)",
                                      {name, event.event_id().to_string(), event.payload()});
                },
            .retry = quick_retry()};
  }
  static store::NewEvent numbered_event(int number, const std::string& key = "") {
    EnvelopeDraft draft = a_draft();
    draft.payload = "{\"n\":" + std::to_string(number) + "}";
    store::NewEvent event = an_event(draft);
    if (!key.empty()) event.ordering_key = key;
    return event;
  }
  void publish_many(int from, int to) {
    std::vector<store::NewEvent> all;
    for (int n = from; n < to; ++n) {
      all.push_back(on_channel(numbered_event(n, n % 2 == 0 ? "key-" + std::to_string(n % 5) : "")));
    }
    const auto published = store().publish(all);
    ASSERT_TRUE(published) << published.error().message;
  }
  /// In the order in which they were handled, each key's events have ascending numbers.
  std::int64_t out_of_order(const std::string& handler) {
    return count(
        "(select e.place, lag(e.place) over (partition by o.ordering_key order by e.n) as before "
        "from public.effects e join core.outbox o on o.id = e.event_id "
        "where o.ordering_key is not null and e.handler = '" +
        handler + "') t where before > place");
  }

  Server server_{GetParam()};
  PostgresDatabase database_;
  std::unique_ptr<store::Store> store_ = open_store(database_.url());
  std::unique_ptr<broker::Broker> admin_;
  std::vector<std::unique_ptr<broker::Broker>> brokers_;  // outlive the processes
  telemetry::Registry registry_;
  telemetry::MetricSet relayed_{registry_};  // of all that relay
  RecordingTracer tracer_;                   // of all of them
};

}  // namespace sluice::test
