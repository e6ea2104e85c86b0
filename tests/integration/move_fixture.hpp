// A file that moves to a PostgreSQL of its own, and a target that breaks off where it is told.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "ops/move.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

template <class T>
T sure(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Passes everything on until call `fail_at`, which fails before anything was done.
class BreakingTarget final : public store::MoveTarget {
 public:
  enum class Lost { nothing, finish };
  BreakingTarget(store::MoveTarget& inner, int fail_at, Lost lost = Lost::nothing)
      : inner_(inner), left_(fail_at), lost_(lost) {}
  Result<store::MoveState> move_state() override {
    return passed([&] { return inner_.move_state(); });
  }
  Result<void> begin_move(const std::string& from) override {
    return passed([&] { return inner_.begin_move(from); });
  }
  Result<std::vector<store::MovedSlice>> moved_slices() override {
    return passed([&] { return inner_.moved_slices(); });
  }
  Result<void> import_slice(const store::MovedSlice& slice, std::span<const std::string> rows) override {
    return passed([&] { return inner_.import_slice(slice, rows); });
  }
  Result<std::int64_t> differing(const store::MoveSlice& slice, std::span<const std::string> rows) override {
    return passed([&] { return inner_.differing(slice, rows); });
  }
  Result<std::vector<std::int64_t>> move_totals() override {
    return passed([&] { return inner_.move_totals(); });
  }
  Result<void> finish_move(const store::Actor& actor) override {
    auto finished = passed([&] { return inner_.finish_move(actor); });
    if (finished && lost_ == Lost::finish) return broken_off();
    return finished;
  }
  Result<void> undo_move() override {
    return passed([&] { return inner_.undo_move(); });
  }

 private:
  static Error broken_off() { return {ErrorCode::unavailable, Retry::safe, "broken off", {}, {}}; }
  template <class Call>
  auto passed(Call call) -> decltype(call()) {
    if (--left_ == 0) return broken_off();
    return call();
  }
  store::MoveTarget& inner_;
  int left_;
  Lost lost_;
};

class PostgresMove : public testing::Test {
 protected:
  PostgresMove() {
    store::SqliteOptions file;
    file.path = folder_.file("sluice.db");
    file.busy_timeout = 60s;
    from_ = sure(store::open_sqlite(file));
    store::PostgresOptions server;
    server.dsn = database_.url();
    to_ = sure(store::open_postgres(server));
    sure(from_->subscribe(1, std::vector{Subscription{"tests.all", {"test.*"}, {}, {}}}));
  }

  Result<ops::MoveReport> move() { return move(*to_->move_target()); }
  Result<ops::MoveReport> move(store::MoveTarget& target) {
    return ops::move_store(*from_->move_source(), target, order(), host());
  }
  static ops::MoveOrder order() { return {"sqlite:test", "postgres://new/home", 0s, {"alice", "cli", "outgrown"}}; }
  static ops::MoveHost host() {
    return {[](const ops::MoveProgress&) {}, [](Duration) { return false; },
            [] { return std::chrono::steady_clock::now(); }};
  }

  Uuid publish(const store::NewEvent& event = an_event()) {
    sure(from_->publish(std::vector{event}));
    return event.envelope.event_id();
  }
  static std::vector<store::ClaimedEvent> claim(store::Store& store, int limit = 100) {
    store::ClaimRequest request;
    request.worker = "w1";
    request.limit = limit;
    return sure(store.claim(request));
  }
  static void settle(store::Store& store, const store::ClaimedEvent& event, const Outcome& outcome,
                     std::vector<std::string> handled_by = {}) {
    RetryPolicy policy;
    policy.jitter = Jitter::none;
    store::SettleItem item;
    item.claim = event.claim;
    item.settlement = sluice::settle(event.attempts, outcome, policy, 0.5);
    item.handled_by = std::move(handled_by);
    item.idempotency_key = event.envelope.idempotency_key();
    sure(store.settle(std::vector{item}));
  }
  /// Everything that can be claimed now, delivered in the order in which it came.
  static std::vector<Uuid> deliver_all(store::Store& store) {
    std::vector<Uuid> ids;
    for (;;) {
      const auto claimed = claim(store);
      if (claimed.empty()) return ids;
      for (const store::ClaimedEvent& event : claimed) {
        ids.push_back(event.envelope.event_id());
        settle(store, event, Outcome::handled());
      }
    }
  }
  /// As the reaper does with the one event whose claim is over.
  void give_back(const Uuid& id) {
    const auto expired = sure(to_->expired_claims(10));
    ASSERT_EQ(expired.size(), 1U);
    EXPECT_EQ(expired.front().claim.event_id, id);
    store::SettleItem back;
    back.claim = expired.front().claim;
    back.settlement.next = Status::pending;
    sure(to_->settle(std::vector{back}));
  }
  /// Past the store.
  void run_sqlite(const std::string& statements) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(folder_.file("sluice.db").c_str(), &database), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_free(error);
    sqlite3_close(database);
  }
  std::string sql(const std::string& statement) { return SqlSession{database_.url()}.must(statement).value(); }

  TempDir folder_;
  PostgresDatabase database_;
  std::unique_ptr<store::Store> from_;
  std::unique_ptr<store::Store> to_;
};

}  // namespace sluice::test
