// A JetStream cluster of three servers on loopback: each is killed in turn, the leader of the stream among them, while
// events flow.
#include "tests/relay/relay_fixture.hpp"

namespace sluice::test {
namespace {

using store::RelayState;

/// Three servers that know each other.
class NatsTrio {
 public:
  NatsTrio() {
    std::string routes;
    for (int& port : routes_) {
      port = free_port();
      routes += (routes.empty() ? "" : ", ") + ("nats://127.0.0.1:" + std::to_string(port));
    }
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      servers_.push_back(std::make_unique<NatsServer>("server_name: n" + std::to_string(i) +
                                                      "\ncluster { name: sluice, listen: \"127.0.0.1:" +
                                                      std::to_string(routes_[i]) + "\", routes: [" + routes + "] }"));
    }
  }
  NatsServer& operator[](std::size_t i) { return *servers_[i]; }
  [[nodiscard]] std::vector<std::string> urls() const {
    std::vector<std::string> all;
    for (const auto& server : servers_) all.push_back(server->url());
    return all;
  }

 private:
  std::array<int, 3> routes_{};
  std::vector<std::unique_ptr<NatsServer>> servers_;
};

class RelayServers : public testing::Test {
 protected:
  std::unique_ptr<broker::Broker> open_broker() { return opened({.urls = trio_.urls()}); }
  std::int64_t count(const std::string& what) {
    return std::stoll(SqlSession{database_.url()}.must("select count(*) from " + what).value());
  }
  std::unique_ptr<DeliveringProcess> process(const std::string& identity, bool relay,
                                             std::vector<runtime::RegisteredHandler> handlers) {
    auto options = relaying_options(identity);
    brokers_.push_back(open_broker());
    options.broker = {.broker = brokers_.back().get(), .kind = "nats", .shards = 2, .ack_wait = 5s, .relay = relay};
    options.workers = 2;
    options.backoff = {10ms, 200ms};
    return std::make_unique<DeliveringProcess>(open_store(database_.url()), std::move(handlers), options);
  }
  void publish(int from, int to) {
    std::vector<store::NewEvent> all;
    for (int n = from; n < to; ++n) {
      EnvelopeDraft draft = a_draft();
      draft.payload = "{\"n\":" + std::to_string(n) + "}";
      store::NewEvent event = on_channel(an_event(draft));
      if (n % 4 == 0) event.ordering_key = "key-" + std::to_string(n % 3);
      all.push_back(std::move(event));
    }
    const auto published = store_->publish(all);
    ASSERT_TRUE(published) << published.error().message;
  }

  NatsTrio trio_;
  PostgresDatabase database_;
  std::unique_ptr<store::Store> store_ = open_store(database_.url());
  std::vector<std::unique_ptr<broker::Broker>> brokers_;
};

TEST_F(RelayServers, EveryServerIsKilledOnceAndNothingIsLostOrDoubled) {
  constexpr int kEach = 250;
  SqlSession{database_.url()}.must(
      "create table public.effects (event_id uuid, place bigint, n bigint generated always as identity)");
  auto admin = open_broker();
  // A JetStream cluster elects its leader when a majority has met.
  eventually([&] { return admin->ensure({.replicas = 3}).has_value(); });
  const runtime::RegisteredHandler booking{
      .subscription = {.handler_name = "billing.books"},
      .handler =
          [](const EventEnvelope& event, Transaction& transaction) {
            transaction.execute("insert into public.effects values ($1::uuid, ($2::jsonb ->> 'n')::bigint)",
                                {event.event_id().to_string(), event.payload()});
          },
      .retry = quick_retry(50)};
  auto consumers = process("consumers", false, {booking});
  ASSERT_TRUE(store_->switch_relay(RelayState::on, "nats", kOperator));
  auto relay = process("relay", true, {});
  int published = 0;
  for (std::size_t killed = 0; killed < 3; ++killed) {
    publish(published, published + kEach);
    published += kEach;
    eventually([&] { return count("public.effects") >= published - (kEach / 2); });
    trio_[killed].kill();
    publish(published, published + kEach);
    published += kEach;
    eventually([&] { return count("public.effects") >= published - (kEach / 2); });
    trio_[killed].start();
    // The next is killed when this one has caught up: two away at once is one too many.
    eventually([&] {
      const auto facts = admin->inspect();
      return facts && facts->replicas_current == 3;
    });
  }
  eventually([&] { return count("core.outbox where status = 'delivered'") == published; });
  eventually([&] { return count("public.effects") >= published; });
  EXPECT_EQ(count("public.effects"), published) << "an effect that happened twice";
  EXPECT_EQ(count("(select distinct event_id from public.effects) t"), published);
  EXPECT_EQ(count("core.outbox where status = 'failed'"), 0);
  EXPECT_EQ(count("(select e.place, lag(e.place) over (partition by o.ordering_key order by e.n) as before "
                  "from public.effects e join core.outbox o on o.id = e.event_id where o.ordering_key is not null) t "
                  "where before > place"),
            0);
}

}  // namespace
}  // namespace sluice::test
