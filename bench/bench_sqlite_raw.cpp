// The limit of a SQLite file: the plain statements in a loop, on the adapter's own schema, with its own durability and
// nothing around them.
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench/bench.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kInsert =
    "insert into outbox (id, event_type, event_version, occurred_at, source, target, channel, generation, payload,"
    " idempotency_key, published_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
constexpr const char* kClaim =
    "update outbox set status = 'in_flight', claimed_at = ?1, claimed_by = 'raw', claim_seq = claim_seq + 1,"
    " claim_expires_at = ?2 where seq in (select seq from outbox where status = 'pending' and retry_after is null"
    " and generation = 1 and key_blocked = 0 order by seq limit ?3)"
    " returning seq, claim_seq, attempts, channel, ordering_key, progress, id, event_type, event_version, occurred_at,"
    " source, target, workspace_id, payload, idempotency_key, trace_context";
constexpr const char* kSettle =
    "update outbox set status = 'delivered', delivered_at = ?1, claim_expires_at = null"
    " where seq in (select value from json_each(?2)) and status = 'in_flight'";

std::string now() {
  return to_iso8601(std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()));
}

class Raw {
 public:
  Raw(const Options& options, const char* synchronous) {
    check(sqlite3_open_v2(file_of(options).c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr));
    sqlite3_busy_timeout(db_, 10'000);
    exec("pragma journal_mode = wal; pragma temp_store = memory");
    exec((std::string{"pragma synchronous = "} + synchronous).c_str());
  }
  ~Raw() { sqlite3_close_v2(db_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  void exec(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }
  /// True for a row, false at the end.
  bool step(sqlite3_stmt* statement) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) check(code);
    sqlite3_reset(statement);
    return false;
  }

 private:
  void check(int code) {
    if (code == SQLITE_OK) return;
    std::fprintf(stderr, "sluice_bench: %s\n", sqlite3_errmsg(db_));
    std::exit(1);
  }
  sqlite3* db_ = nullptr;
};

void put(sqlite3_stmt* statement, int place, const std::string& text) {
  sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void insert(Raw& raw, sqlite3_stmt* statement, const store::NewEvent& event) {
  const EventEnvelope& envelope = event.envelope;
  put(statement, 1, envelope.event_id().to_string());
  put(statement, 2, envelope.event_type());
  sqlite3_bind_int64(statement, 3, envelope.event_version());
  put(statement, 4, to_iso8601(envelope.occurred_at()));
  put(statement, 5, envelope.source());
  put(statement, 6, envelope.target().value_or(""));
  put(statement, 7, event.channel);
  sqlite3_bind_int64(statement, 8, event.generation);
  put(statement, 9, envelope.payload());
  put(statement, 10, envelope.idempotency_key());
  put(statement, 11, now());
  raw.step(statement);
}

struct Claimed {
  std::int64_t seq;
  std::vector<std::string> columns;
};

Claimed read(sqlite3_stmt* row) {
  Claimed claimed{sqlite3_column_int64(row, 0), {}};
  const int columns = sqlite3_column_count(row);
  claimed.columns.reserve(static_cast<std::size_t>(columns));
  for (int column = 1; column < columns; ++column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
    claimed.columns.emplace_back(text != nullptr ? std::string{text, bytes} : std::string{});
  }
  return claimed;
}

std::string places_of(const std::vector<Claimed>& events) {
  std::string text;
  for (const Claimed& event : events) text += (text.empty() ? '[' : ',') + std::to_string(event.seq);
  return text + ']';
}

}  // namespace

int sqlite_raw_publish(const Options& options) {
  const auto sessions = static_cast<int>(options.number("sessions", 1));
  const auto duration = std::chrono::milliseconds{options.number("milliseconds", 5000)};
  (void)must(store::open_sqlite({.path = file_of(options)}));  // makes the schema
  std::atomic<std::int64_t> inserted{0};
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < sessions; ++i) {
    threads.emplace_back([&, end = start + duration] {
      Raw raw{options, "full"};
      sqlite3_stmt* const statement = raw.prepare(kInsert);
      std::int64_t mine = 0;
      for (; Clock::now() < end; ++mine) insert(raw, statement, sample_events(1).front());
      sqlite3_finalize(statement);
      inserted += mine;
    });
  }
  threads.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report("sqlite-raw-publish", static_cast<double>(inserted.load()) / seconds, "commits/s",
         R"({"sessions":)" + std::to_string(sessions) + "}");
  return 0;
}

int sqlite_raw_drain(const Options& options) {
  const std::int64_t count = options.number("events", 100'000);
  const std::int64_t batch = options.number("batch", 100);
  fill(*must(store::open_sqlite({.path = file_of(options)})), count);
  // As the adapter: a claim or an acknowledgement that a power failure takes back is a redelivery.
  Raw raw{options, options.text("synchronous", "normal").c_str()};
  sqlite3_stmt* const claim = raw.prepare(kClaim);
  sqlite3_stmt* const settle = raw.prepare(kSettle);
  std::int64_t delivered = 0;
  const auto start = Clock::now();
  while (delivered < count) {
    std::vector<Claimed> claimed;
    const std::string at = now();
    put(claim, 1, at);
    put(claim, 2, at);
    sqlite3_bind_int64(claim, 3, batch);
    while (raw.step(claim)) claimed.push_back(read(claim));
    put(settle, 1, now());
    put(settle, 2, places_of(claimed));
    raw.step(settle);
    delivered += static_cast<std::int64_t>(claimed.size());
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  sqlite3_finalize(claim);
  sqlite3_finalize(settle);
  report("sqlite-raw-drain", static_cast<double>(count) / seconds, "events/s",
         R"({"events":)" + std::to_string(count) + R"(,"batch":)" + std::to_string(batch) + "}");
  return 0;
}

}  // namespace sluice::bench
