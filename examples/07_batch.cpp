// 07: a batch. A hundred readings are published in one transaction, and written by few statements in few
// transactions, exactly once.
//
// Prints:
//   100 readings published
//   100 readings written, in fewer than 100 calls
//   delivered 100
#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

constexpr int kReadings = 100;
std::atomic<int> calls = 0;
example::Progress written;

// region: handler
void write_readings(std::span<const sluice::EventEnvelope> events, sluice::Transaction& transaction) {
  transaction.execute("create table if not exists readings (id text primary key, body text not null)");
  std::string sql = "insert into readings values ";
  std::vector<sluice::Transaction::Value> values;
  for (const sluice::EventEnvelope& event : events) {
    values.emplace_back(event.event_id().to_string());
    values.emplace_back(event.payload());
    const std::string first = std::to_string(values.size() - 1);
    const std::string second = std::to_string(values.size());
    sql += (values.size() > 2 ? ", ($" : "($") + first + ", $" + second + ")";
  }
  transaction.execute(sql, values);
  ++calls;
  written.add(static_cast<int>(events.size()));
}
// end region

}  // namespace

int main() {
  const example::Store store;
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));
  // region: publish
  std::vector<sluice::EventEnvelope> readings;
  for (int i = 0; i < kReadings; ++i) {
    sluice::EnvelopeDraft draft = publisher.draft();
    draft.event_type = "sensors.reading.taken";
    draft.source = "sensors";
    draft.payload = R"({"celsius":)" + std::to_string(i) + "}";
    readings.push_back(example::required(sluice::EventEnvelope::make(std::move(draft))));
  }
  example::required(publisher.publish(readings));
  // end region
  std::cout << readings.size() << " readings published\n";

  auto listener = example::required(sluice::EventListener::open({.store = store.address(), .threads = 1}));
  example::required(
      listener.listen({.handler_name = "archive.reading_writer", .events = {"sensors.*"}}, write_readings));
  example::required(listener.start());
  written.await(kReadings);
  listener.stop();

  const bool few = calls < kReadings;
  std::cout << kReadings << " readings written, in " << (few ? "fewer than" : "as many as") << " 100 calls\n"
            << "delivered " << listener.status().delivered << '\n';
  return few && listener.status().delivered == kReadings ? 0 : 1;
}
