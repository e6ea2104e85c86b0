// The limit that publish-batch is held against: plain multi-row INSERTs of the same rows, as text, by
// libpq alone.
#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

std::string insert_of(const std::vector<store::NewEvent>& events) {
  std::string sql =
      "insert into core.outbox (id, event_type, event_version, occurred_at, source, target, content_class, channel, "
      "generation, payload, "
      "idempotency_key) values ";
  for (const store::NewEvent& event : events) {
    const EventEnvelope& envelope = event.envelope;
    if (sql.back() == ')') sql += ',';
    sql += "('" + envelope.event_id().to_string() + "','" + envelope.event_type() + "',1,'" +
           to_iso8601(envelope.occurred_at()) + "','" + envelope.source() + "','" + *envelope.target() + "','" +
           event.content_class + "','" + event.channel + "'," + std::to_string(event.generation) + ",'" +
           envelope.payload() + "','" + envelope.idempotency_key() + "')";
  }
  return sql;
}

}  // namespace

int raw_batch(const Options& options) {
  const int sessions = static_cast<int>(options.number("sessions", 2));
  const auto size = static_cast<std::size_t>(options.number("size", 1000));
  const std::int64_t count = options.number("events", 200'000);
  std::vector<std::string> statements;
  for (std::int64_t made = 0; made < count; made += static_cast<std::int64_t>(size))
    statements.push_back(insert_of(sample_events(size)));
  std::atomic<std::size_t> next{0};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < sessions; ++i) {
    threads.emplace_back([&] {
      PGconn* connection = PQconnectdb(options.text("dsn", "").c_str());
      for (std::size_t mine = next++; mine < statements.size(); mine = next++) {
        PGresult* result = PQexec(connection, statements[mine].c_str());
        if (PQresultStatus(result) != PGRES_COMMAND_OK) {
          std::fprintf(stderr, "sluice_bench: %s", PQerrorMessage(connection));
          std::exit(1);
        }
        PQclear(result);
      }
      PQfinish(connection);
    });
  }
  threads.clear();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report("raw-batch", static_cast<double>(statements.size() * size) / seconds, "rows/s");
  return 0;
}

}  // namespace sluice::bench
