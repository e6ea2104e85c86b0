#include "tests/support/embedded_store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "store/sqlite/sqlite_store.hpp"

namespace sluice::test {
namespace {

constexpr int kEverything = 1000;
const store::Actor kTester{"tester", "sql", "a test wants it so"};

}  // namespace

EmbeddedStore::EmbeddedStore(Start start, const std::string& file) : start_(start), path_(folder_.file(file)) {
  if (start != Start::no_file) static_cast<void>(**this);
}

EmbeddedStore::~EmbeddedStore() = default;

bool EmbeddedStore::exists() const { return std::filesystem::exists(path_); }

store::Administering& EmbeddedStore::operator*() { return whole(); }

store::Store& EmbeddedStore::whole() {
  if (!store_) {
    store::SqliteOptions options;
    options.path = path_;
    options.create = start_ != Start::no_file;
    options.auto_migrate = start_ == Start::migrated;
    options.clock = [this] { return now; };
    store_ = must(store::open_sqlite(options));
  }
  return *store_;
}

std::vector<std::string> EmbeddedStore::sql(const std::string& statement) const {
  sqlite3* database = nullptr;
  std::vector<std::string> values;
  const auto collect = [](void* into, int, char** columns, char**) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(columns[0] != nullptr ? columns[0] : "");
    return 0;
  };
  int code = sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
  if (code == SQLITE_OK) code = sqlite3_exec(database, statement.c_str(), collect, &values, nullptr);
  const std::string problem = sqlite3_errmsg(database);
  sqlite3_close_v2(database);
  if (code != SQLITE_OK) throw std::runtime_error(problem + " in: " + statement);
  return values;
}

void EmbeddedStore::add_future_migration() const {
  sql("insert into sluice_migrations (version, name, checksum, applied_at) "
      "values (999, '0999_future', 'x', '2030-01-01T00:00:00.000000Z')");
}

void EmbeddedStore::subscribe(Generation generation, const std::vector<Subscription>& subscriptions) {
  must(whole().subscribe(generation, subscriptions));
}

void EmbeddedStore::announce(const store::WorkerRecord& worker) { must(whole().announce(worker)); }

void EmbeddedStore::publish(const Uuid& id, Generation generation) {
  store::NewEvent event{.envelope = must(EventEnvelope::make(a_draft_of(id)))};
  event.generation = generation;
  event.channel = must(compose_channel(generation));
  must((*this)->publish(std::span{&event, 1}));
}

std::vector<store::ClaimedEvent> EmbeddedStore::claim_all() {
  store::ClaimRequest request;
  request.worker = "worker-1";
  request.limit = kEverything;
  return must(whole().claim(request));
}

store::ClaimedEvent EmbeddedStore::claim(const Uuid& id) {
  std::optional<store::ClaimedEvent> wanted;
  for (auto& event : claim_all()) {
    if (event.envelope.event_id() == id) {
      wanted = std::move(event);
    } else {
      settle(event, Outcome::released());
    }
  }
  if (!wanted) throw std::runtime_error("event " + id.to_string() + " cannot be claimed");
  return *std::move(wanted);
}

void EmbeddedStore::settle(const store::ClaimedEvent& event, const Outcome& outcome,
                           std::vector<std::string> handled_by) {
  store::SettleItem item;
  item.claim = event.claim;
  item.settlement = sluice::settle(event.attempts, outcome, RetryPolicy::standard(), 0.0);
  item.handled_by = std::move(handled_by);
  item.idempotency_key = event.envelope.idempotency_key();
  if (must(whole().settle(std::span{&item, 1})).settled != 1) throw std::runtime_error("the claim was lost");
}

void EmbeddedStore::deliver(const Uuid& id, const std::string& handler) {
  settle(claim(id), Outcome::handled(), {handler});
}

void EmbeddedStore::fail(const Uuid& id, const std::string& message, std::vector<std::string> handled_by) {
  const Outcome outcome = Outcome::failed({std::string{error_class::timeout}, message, {}, false});
  while (must((*this)->get_event(id)).status != Status::failed) settle(claim(id), outcome, handled_by);
}

std::vector<store::EventRecord> EmbeddedStore::events() {
  store::EventFilter filter;
  filter.include_deleted = true;
  auto events = must((*this)->list_events(filter, kEverything, std::nullopt)).events;
  std::reverse(events.begin(), events.end());
  return events;
}

void EmbeddedStore::bring_generation(Generation generation, GenerationState state) {
  auto current = must((*this)->allocate_generation(generation, "", kTester)).state;
  for (const auto next : {GenerationState::live, GenerationState::draining, GenerationState::retired}) {
    if (current == state) return;
    current = must((*this)->move_generation(generation, next, kTester)).state;
  }
}

}  // namespace sluice::test
