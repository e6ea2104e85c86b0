// What all threads of a process would read side by side, all that is due and all that came since the mark: one does,
// and the others need not wait for it.
#include <gtest/gtest.h>

#include <future>

#include "tests/integration/rescan_fixture.hpp"

namespace sluice::test {
namespace {

TEST_F(PostgresRescan, OneThreadScansFromTheMarkAndTheOthersTakeWhatIsDue) {
  const auto store = open(std::chrono::hours{1});
  session.must("insert into core.subscriptions (generation, handler_name, event_types) values (1, 'a.b', '{*}')");
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) values ('new', 'worlds', 1, "
      "'{}', 'k')");
  begin_looks_at_due_with("perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)");
  SqlSession holder{database.url()};
  holder.must("begin");
  holder.must("select pg_advisory_xact_lock(1)");
  auto first = claim(*store);
  while (waiting() < 1 && !is_ready(first)) {
  }
  ASSERT_FALSE(is_ready(first)) << "it was to wait for the lock";
  // Each opens a connection, which makes the process forget how far it had come.
  for (int thread = 1; thread <= 2; ++thread) {
    insert_due("now()");
    auto another = claim(*store);
    while (waiting() < 2 && !is_ready(another)) {
    }
    EXPECT_TRUE(is_ready(another)) << "it scanned from the mark, side by side with the first one";
    if (!is_ready(another)) holder.must("rollback");
    EXPECT_EQ(another.get(), 1U);
  }
  holder.must("rollback");
  EXPECT_EQ(first.get(), 1U);
  insert();
  EXPECT_EQ(claim(*store).get(), 1U) << "the scan from the mark was not begun again";
}

TEST_F(PostgresRescan, ALookAtWhatIsDueIsOwedToWhoClaims) {
  const auto store = open(std::chrono::hours{1});
  int claims = 0;
  do {
    ASSERT_TRUE(claim_of(*store, "a", {"x.two", "x.one"}).empty());
  } while (!is_owed(*store, {}) && ++claims < 100);
  EXPECT_TRUE(is_owed(*store, {"x.one", "x.two"}));
  EXPECT_FALSE(is_owed(*store, {"y.other"}));
}

TEST_F(PostgresRescan, OneThreadLooksAtAllThatIsDueAndTheOthersGoOn) {
  const auto store = open(std::chrono::hours{1});
  SqlSession holder{database.url()};
  auto everything = begin_a_look(*store, holder);
  ASSERT_FALSE(is_ready(everything)) << "it was to wait for the lock";
  insert_due("now()");
  auto another = claim(*store);
  while (waiting() < 2 && !is_ready(another)) {
  }
  const bool went_on = is_ready(another);
  holder.must("rollback");
  EXPECT_TRUE(went_on) << "the second thread waited for the first one's look";
  EXPECT_EQ(everything.get(), 1U);
  EXPECT_EQ(another.get(), 1U);
}

TEST_F(PostgresRescan, AfterADearLookWhatWasCommittedLateIsLookedForFurtherBack) {
  const auto store = open(std::chrono::hours{1});
  SqlSession holder{database.url()};
  auto everything = begin_a_look(*store, holder);
  ASSERT_FALSE(is_ready(everything)) << "it was to wait for the lock";
  const auto held = std::chrono::steady_clock::now();
  const std::string before_the_look = "timestamptz '" +
                                      session
                                          .must(
                                              "select query_start - interval '260 ms' from pg_stat_activity "
                                              "where application_name = 'rescan' and wait_event_type = 'Lock'")
                                          .value() +
                                      "'";
  while (std::chrono::steady_clock::now() < held + std::chrono::milliseconds{100}) session.must("select 1");
  holder.must("rollback");
  EXPECT_EQ(everything.get(), 1U);
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) values ('late', 'worlds', 1, "
      "'{}', " +
      before_the_look + ")");
  EXPECT_EQ(claim(*store).get(), 1U);
}

TEST_F(PostgresRescan, OneThreadLooksAtAllThatIsDueWhileOthersReconnect) {
  const auto store = open(std::chrono::hours{1});
  SqlSession holder{database.url()};
  auto everything = begin_a_look(*store, holder);
  ASSERT_FALSE(is_ready(everything)) << "it was to wait for the lock";
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) "
      "values ('undone', 'worlds', 1, '{}', now() - interval '30 minutes')");
  // The first one opens a connection, the next one learns of it.
  std::size_t found = 0;
  bool all_went_on = true;
  for (int thread = 1; thread <= 3 && all_went_on; ++thread) {
    insert_due("now()");
    auto another = claim(*store);
    while (waiting() < 2 && !is_ready(another)) {
    }
    all_went_on = is_ready(another);
    if (!all_went_on) holder.must("rollback");
    found += another.get();
  }
  if (all_went_on) holder.must("rollback");
  EXPECT_TRUE(all_went_on) << "a thread waited for the first one's look";
  EXPECT_EQ(everything.get(), 1U);
  EXPECT_EQ(found, 3U);
  EXPECT_EQ(claim(*store).get(), 1U) << "what a crash may have undone meanwhile was not looked for";
}

TEST_F(PostgresRescan, AfterALookAtAllThatIsDueHasFailedTheNextOneMakesIt) {
  const auto store = open(std::chrono::hours{1});
  insert_due("now() - interval '1 hour'");
  begin_looks_at_due_with("raise exception 'the disk is full' using errcode = '53100'");
  EXPECT_FALSE(store->claim({.worker = "w"}));
  begin_looks_at_due_with("null");
  EXPECT_EQ(claim(*store).get(), 1U);
}

}  // namespace
}  // namespace sluice::test
