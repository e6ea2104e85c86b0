// `sluice move` from a real file to a real PostgreSQL: nothing lost, nothing doubled, wherever it is broken off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "store/sqlite/sqlite_move.hpp"
#include "tests/integration/move_fixture.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SqliteTableFates, NoTableIsForgotten) {
  TempDir folder;
  store::SqliteOptions options;
  options.path = folder.file("sluice.db");
  const auto store = sure(store::open_sqlite(options));
  std::set<std::string> moved;
  for (const store::MoveSlice& slice : sure(store->move_source()->slices())) moved.insert(slice.table);
  std::set<std::string> known;
  for (const store::TableFate& fate : store::kSqliteTableFates) {
    known.insert(std::string{fate.table});
    const std::string neutral = fate.table == "failure_groups" ? "failure_groups" : std::string{fate.table};
    // Tables that are cut into slices have none while they are empty.
    const bool sliced = neutral == "outbox" || neutral == "event_handled" || neutral == "audit" ||
                        neutral == "operation_items" || neutral == "attempts";
    EXPECT_EQ(moved.contains(neutral) || sliced, fate.left_behind.empty()) << neutral;
  }
  std::set<std::string> there;
  for (const store::MigrationText& migration : store::sqlite_migrations()) {
    for (auto at = migration.sql.find("create table "); at != std::string::npos;
         at = migration.sql.find("create table ", at + 1)) {
      const auto begin = at + std::string_view{"create table "}.size();
      there.insert(migration.sql.substr(begin, migration.sql.find(' ', begin) - begin));
    }
  }
  there.insert("sluice_migrations");
  EXPECT_EQ(there, known) << "a new table has to be moved, or to be left behind for a reason: sqlite_move.hpp";
}

// Each table that is cut into slices has its own notes; one without them would lose what came during the copy.
TEST_F(PostgresMove, WhatIsWrittenMeanwhileIsNoted) {
  const auto source = from_->move_source();
  auto notes = sure(source->note_writes());
  const Uuid event = publish();
  run_sqlite(
      "insert into attempts (event_id, number, claim_seq, worker, started_at, duration_us, outcome, recorded_at) "
      "values ('" +
      event.to_string() +
      "', 1, 1, 'w', '2026-01-01T00:00:00.000000Z', 1, 'failed', '2026-01-01T00:00:00.000000Z');"
      "insert into event_handled (handler_name, idempotency_key, handled_at) values ('a.b', 'k', "
      "'2026-01-01T00:00:00.000000Z')");
  sure(from_->allocate_generation({}, "", {"bob", "cli", "audited"}));
  std::set<std::string> touched;
  for (const store::MoveSlice& slice : sure(source->touched(notes))) touched.insert(slice.table);
  EXPECT_THAT(touched, testing::IsSupersetOf({"outbox", "attempts", "event_handled", "audit"}));
}

// PostgreSQL counts what has a due time as waiting.
TEST_F(PostgresMove, WhatIsCancelledStaysCancelledAndIsDueWhenItWas) {
  store::NewEvent later = an_event();
  later.delay = 1h;
  const Uuid id = publish(later);
  const auto due = sure(from_->get_event(id)).retry_after;
  sure(from_->cancel(id, {"bob", "cli", "not yet"}));
  const auto report = move();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(sure(to_->get_event(id)).deleted_at);
  EXPECT_EQ(sure(to_->get_event(id)).retry_after, std::nullopt);
  EXPECT_EQ(sure(to_->due_backlog()).count, 0);
  sure(to_->restore(id, {"bob", "cli", "after all"}));
  EXPECT_EQ(sure(to_->get_event(id)).retry_after, due);
}

TEST_F(PostgresMove, EverythingIsThereAndGoesOn) {
  const Uuid delivered = publish();
  settle(*from_, claim(*from_).front(), Outcome::handled(), {"tests.all"});
  const Uuid dead = publish();
  Failure failure;
  failure.error_class = "TimeoutError";
  failure.message = "it's \"slow\" — übel";
  failure.terminal = true;
  settle(*from_, claim(*from_).front(), Outcome::failed(failure));
  sure(from_->replay(dead, 1, {"bob", "cli", "again"}));
  settle(*from_, claim(*from_).front(), Outcome::failed(failure));
  const auto groups = sure(from_->failure_groups({}));
  ASSERT_THAT(groups, SizeIs(1));
  sure(from_->acknowledge(groups.front().fingerprint, true, {"bob", "cli", "known"}));
  const Uuid discarded = publish();
  settle(*from_, claim(*from_).front(), Outcome::failed(failure));
  sure(from_->discard(discarded, {"bob", "cli", "no use"}));
  const Uuid in_flight = publish(a_keyed_event("a"));
  ASSERT_THAT(claim(*from_), SizeIs(1));
  auto draft = a_draft();
  draft.payload = R"({"big":12345678901234567890123456789.50,"small":1e-7,"text":"ü\n\t😀"})";
  const Uuid first = publish(an_event(draft));
  const Uuid behind = publish(a_keyed_event("a"));
  store::NewEvent later = an_event();
  later.delay = 1h;
  const Uuid scheduled = publish(later);
  const Uuid last = publish();
  const auto before = sure(from_->get_event(dead));

  const auto report = move();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->in_flight, 1);
  EXPECT_EQ(report->tables.at("outbox").rows, 8);

  const auto after = sure(to_->get_event(dead));
  EXPECT_EQ(after.status, Status::failed);
  EXPECT_EQ(after.attempts, before.attempts);
  EXPECT_EQ(after.claim_seq, before.claim_seq);
  EXPECT_EQ(after.seq, before.seq);
  EXPECT_EQ(after.last_error, before.last_error);
  EXPECT_EQ(after.failed_at, before.failed_at);
  EXPECT_EQ(after.published_at, before.published_at);
  EXPECT_EQ(sql("select jsonb_array_length(failure_history) from core.outbox where id = '" + dead.to_string() + "'"),
            "1");
  EXPECT_EQ(sure(to_->get_event(delivered)).status, Status::delivered);
  EXPECT_TRUE(sure(to_->get_event(discarded)).deleted_at);
  EXPECT_THAT(sure(to_->handled(sure(to_->get_event(delivered)))), SizeIs(1));
  const auto moved_groups = sure(to_->failure_groups({}));
  ASSERT_THAT(moved_groups, SizeIs(1));
  EXPECT_EQ(moved_groups.front().acknowledged_by, "bob");
  EXPECT_EQ(moved_groups.front().replayed, 1);
  EXPECT_THAT(sure(to_->audit_of(dead)), testing::Not(IsEmpty()));
  EXPECT_THAT(sure(to_->subscriptions()), SizeIs(1));
  EXPECT_EQ(sql("select payload ->> 'big' from core.outbox where id = '" + first.to_string() + "'"),
            "12345678901234567890123456789.50");
  EXPECT_THAT(sure(to_->validate()), IsEmpty());

  // By the ordinary scan, in insert order; the key waits for the one that was in flight.
  EXPECT_THAT(deliver_all(*to_), testing::ElementsAre(first, last));
  give_back(in_flight);
  EXPECT_THAT(deliver_all(*to_), testing::ElementsAre(in_flight, behind));
  EXPECT_EQ(sure(to_->get_event(scheduled)).status, Status::pending);

  // New events come behind all that were moved.
  const auto fresh = an_event();
  sure(to_->publish(std::vector{fresh}));
  EXPECT_GT(sure(to_->get_event(fresh.envelope.event_id())).seq, sure(to_->get_event(last)).seq);
  EXPECT_THAT(deliver_all(*to_), testing::ElementsAre(fresh.envelope.event_id()));
}

TEST_F(PostgresMove, SavedFiltersGoAlong) {
  sure(from_->save_filter("late-orders", "type:order.* since:24h", {"bob", "cli", "for the team"}));
  ASSERT_TRUE(move());
  const auto filters = sure(to_->saved_filters());
  ASSERT_THAT(filters, SizeIs(1));
  EXPECT_EQ(filters.front().filter, "type:order.* since:24h");
  EXPECT_EQ(filters.front().saved_by, "bob");
  EXPECT_EQ(filters.front().saved_at, sure(from_->saved_filters()).front().saved_at);
}

TEST_F(PostgresMove, TheOldStoreNamesTheNewHome) {
  publish();
  ASSERT_TRUE(move());
  const auto refused = from_->publish(std::vector{an_event()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("this store has moved to postgres://new/home"));
  store::ClaimRequest request;
  request.worker = "w1";
  EXPECT_THAT(from_->claim(request).error().message, HasSubstr("has moved to"));
  EXPECT_THAT(move().error().message, HasSubstr("has moved to postgres://new/home already"));
  EXPECT_THAT(sure(from_->list_events({}, 10, {})).events, SizeIs(1)) << "it can still be read";
  EXPECT_THAT(sure(from_->validate()), IsEmpty());
}

TEST_F(PostgresMove, BackAgainWhileNothingHasChanged) {
  publish();
  ASSERT_TRUE(move());
  const auto back = ops::move_back(*from_->move_source(), *to_->move_target(), order(), host());
  ASSERT_TRUE(back) << back.error().message;
  const Uuid more = publish();
  EXPECT_THAT(deliver_all(*from_), SizeIs(2));
  const auto again = move();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(sure(to_->get_event(more)).status, Status::delivered);
  sure(to_->publish(std::vector{an_event()}));
  const auto late = ops::move_back(*from_->move_source(), *to_->move_target(), order(), host());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::conflict);
}

TEST_F(PostgresMove, ADeliveryInTheNewStoreIsAChange) {
  publish();
  ASSERT_TRUE(move());
  EXPECT_THAT(deliver_all(*to_), SizeIs(1));
  const auto late = ops::move_back(*from_->move_source(), *to_->move_target(), order(), host());
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("1 row of outbox changed"));
}

TEST_F(PostgresMove, BrokenOffAnywhereItGoesOn) {
  std::vector<Uuid> published;
  for (int number = 0; number < 30; ++number)
    published.push_back(publish(number % 3 == 0 ? a_keyed_event("k") : an_event()));
  for (int call = 1;; ++call) {
    BreakingTarget target{*to_->move_target(), call};
    const auto moved = move(target);
    if (moved) break;
    ASSERT_EQ(moved.error().message, "broken off") << call;
    // The old store goes on as before.
    published.push_back(publish());
    const auto claimed = claim(*from_, 1);
    ASSERT_THAT(claimed, SizeIs(1)) << call;
    settle(*from_, claimed.front(), Outcome::handled());
    ASSERT_LT(call, 100);
  }
  const auto old_events = sure(from_->list_events({}, 1000, {})).events;
  EXPECT_THAT(old_events, SizeIs(published.size()));
  std::size_t pending = 0;
  for (const store::EventRecord& event : old_events) {
    EXPECT_EQ(sure(to_->get_event(event.envelope.event_id())).status, event.status);
    pending += event.status == Status::pending ? 1 : 0;
  }
  EXPECT_EQ(sql("select count(*) from core.outbox"), std::to_string(published.size()));
  EXPECT_THAT(deliver_all(*to_), SizeIs(pending));
}

TEST_F(PostgresMove, ALivePublisherLosesNothing) {
  std::atomic<int> accepted = 0;
  std::atomic<bool> over = false;
  std::string refusal;
  std::jthread publisher{[&] {
    store::SqliteOptions options;
    options.path = folder_.file("sluice.db");
    options.busy_timeout = 60s;
    const auto own = sure(store::open_sqlite(options));
    while (!over) {
      std::vector<store::NewEvent> batch;
      for (int number = 0; number < 10; ++number) batch.push_back(an_event());
      const auto published = own->publish(batch);
      if (!published) {
        refusal = published.error().message;
        return;
      }
      accepted += 10;
      accepted.notify_all();
    }
  }};
  for (int seen = accepted; seen < 1000; seen = accepted) accepted.wait(seen);
  const auto report = move();
  over = true;
  publisher.join();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(refusal, HasSubstr("has moved to"));
  EXPECT_EQ(sql("select count(*) from core.outbox"), std::to_string(accepted.load()));
  EXPECT_THAT(deliver_all(*to_), SizeIs(accepted.load()));
}

// Written when everything was copied, and before writers have to wait: all of it is small, however large the file is.
TEST_F(PostgresMove, WritersWaitForWhatWasWrittenLastOnly) {
  constexpr int kEvents = 6'000;
  std::vector<store::NewEvent> many;
  for (int number = 0; number < kEvents; ++number) many.push_back(an_event());
  sure(from_->publish(many));
  Uuid late;
  Uuid gone;
  std::map<std::string, std::int64_t> held;
  ops::MoveHost watching = host();
  watching.tell = [&](const ops::MoveProgress& progress) {
    if (progress.phase == "switch") ++held[progress.table];
    if (progress.phase != "drain" || held.contains("drain")) return;
    held["drain"] = 1;
    late = publish();
    gone = many.front().envelope.event_id();
    run_sqlite("delete from outbox where id = '" + gone.to_string() + "'");
  };
  const auto report = ops::move_store(*from_->move_source(), *to_->move_target(), order(), watching);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(held["outbox"], 0) << "copied before the hold";
  EXPECT_TRUE(to_->get_event(late));
  EXPECT_FALSE(to_->get_event(gone));
  EXPECT_EQ(sql("select count(*) from core.outbox"), std::to_string(kEvents));
}

// What is taken out of its place for a moment is no end of an event: the next one of its key stays as it was brought.
TEST_F(PostgresMove, ASliceThatComesAgainChangesNoOther) {
  const Uuid first = publish(a_keyed_event("a"));
  const Uuid gone = publish();
  run_sqlite("update sqlite_sequence set seq = 2500 where name = 'outbox'");
  const Uuid next = publish(a_keyed_event("a"));
  ops::MoveHost watching = host();
  watching.tell = [&](const ops::MoveProgress& progress) {
    if (progress.phase == "drain") run_sqlite("delete from outbox where id = '" + gone.to_string() + "'");
  };
  const auto report = ops::move_store(*from_->move_source(), *to_->move_target(), order(), watching);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(to_->get_event(first));
  EXPECT_FALSE(to_->get_event(gone));
  EXPECT_FALSE(sure(to_->get_event(next)).retry_after);
  const auto back = ops::move_back(*from_->move_source(), *to_->move_target(), order(), host());
  ASSERT_TRUE(back) << back.error().message;
}

TEST_F(PostgresMove, AWatchThatAnotherMoveHasEndedIsNotTrusted) {
  publish();
  ops::MoveHost meddling = host();
  meddling.tell = [&](const ops::MoveProgress& progress) {
    if (progress.phase == "drain") sure(from_->move_source()->hold_claims(0s, "elsewhere"));
  };
  const auto refused = ops::move_store(*from_->move_source(), *to_->move_target(), order(), meddling);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("another move"));
  ASSERT_TRUE(move()) << "the next one begins its own";
}

TEST_F(PostgresMove, WhatWasDeletedMeanwhileIsGoneThereToo) {
  const Uuid gone = publish();
  settle(*from_, claim(*from_).front(), Outcome::handled(), {"tests.all"});
  BreakingTarget target{*to_->move_target(), 0, BreakingTarget::Lost::finish};
  ASSERT_FALSE(move(target));
  EXPECT_TRUE(to_->get_event(gone)) << "it is copied";
  run_sqlite("delete from outbox; delete from event_handled");
  const Uuid kept = publish();
  ASSERT_TRUE(move());
  EXPECT_FALSE(to_->get_event(gone));
  EXPECT_EQ(sql("select count(*) from core.event_handled"), "0");
  EXPECT_THAT(deliver_all(*to_), testing::ElementsAre(kept));
}

TEST_F(PostgresMove, EndedBetweenTheHalvesOfTheSwitchTheOldStoreGoesOn) {
  const Uuid early = publish(a_keyed_event("a"));
  ASSERT_THAT(claim(*from_), SizeIs(1));
  BreakingTarget target{*to_->move_target(), 0, BreakingTarget::Lost::finish};
  ASSERT_FALSE(move(target));
  EXPECT_EQ(sql("select count(*) from core.settings where key = 'moved_from'"), "1");
  const Uuid late = publish();
  ASSERT_TRUE(move());
  EXPECT_EQ(sql("select count(*) from core.claims"), "1");
  EXPECT_EQ(sql("select count(*) from core.keys_in_flight"), "1");
  EXPECT_EQ(sure(to_->get_event(early)).status, Status::in_flight);
  EXPECT_EQ(sure(to_->get_event(late)).status, Status::pending);
}

TEST_F(PostgresMove, APayloadThatPostgresCannotHoldIsNamed) {
  const Uuid bad = new_id();
  publish();
  run_sqlite("insert into outbox (id, event_type, source, generation, payload) values ('" + bad.to_string() +
             "', 'test.bad', 'tests', 1, '{\"a\":\"x\\u0000y\"}')");
  const auto refused = move();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("event " + bad.to_string() + " cannot be moved"));
  EXPECT_FALSE(ops::preview_move(*from_->move_source(), *to_->move_target(), order(), host()));
  EXPECT_TRUE(from_->publish(std::vector{an_event()})) << "it goes on";
}

TEST_F(PostgresMove, ADatabaseThatIsInUseIsRefused) {
  sure(to_->publish(std::vector{an_event()}));
  EXPECT_THAT(move().error().message, HasSubstr("is not empty"));
}

TEST_F(PostgresMove, ADatabaseWithWorkersIsRefused) {
  sure(to_->announce({"w:1", 1, {"tests.all"}, "listening", {}, {}}));
  EXPECT_THAT(move().error().message, HasSubstr("workers are at work in postgres://new/home"));
}

TEST_F(PostgresMove, APreviewChangesNothing) {
  publish();
  const auto report = ops::preview_move(*from_->move_source(), *to_->move_target(), order(), host());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->tables.at("outbox").rows, 1);
  EXPECT_EQ(sql("select count(*) from core.move_slices"), "0");
  EXPECT_EQ(sql("select count(*) from core.settings where key = 'moving_from'"), "0");
}

}  // namespace
}  // namespace sluice::test
