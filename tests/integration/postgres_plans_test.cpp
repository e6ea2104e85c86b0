// The plans of the statements that run for every event: by the index that is meant for them, whatever the server
// believes of the table when it makes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/integration/claim_fixture.hpp"

namespace sluice::test {
namespace {

class PostgresPlans : public PostgresClaim {
 protected:
  void SetUp() override {
    PostgresClaim::SetUp();
    session.must("alter table core.outbox set (autovacuum_enabled = off)");
  }

  /// The most rows that a step of these plans has read.
  static long most_rows(const std::string& plans) {
    long most = 0;
    for (const std::string_view counted : {"Rows Removed by Filter: ", "actual rows="}) {
      for (std::size_t at = plans.find(counted); at != std::string::npos; at = plans.find(counted, at + 1)) {
        most = std::max(most, std::stol(plans.substr(at + counted.size(), 12)));
      }
    }
    return most;
  }

  std::string id(const char* type) {
    return session.must(std::string{"select id from core.outbox where event_type = '"} + type + "'").value();
  }
};

// A session keeps its plans, and the first ones are made while next to nothing is there: reading all of an index looks
// as cheap then as asking it.
TEST_F(PostgresPlans, MadeOnAnEmptyTableTheyReadNoMoreThanTheyNeed) {
  session.must("insert into core.subscriptions (generation, handler_name, event_types) values (1, 'a.b', '{*}')");
  const char* keyed = "insert into core.outbox (event_type, source, generation, payload, ordering_key) values ";
  // The index of the keys that wait was full once: what waits at all looks like less.
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key, retry_after) "
      "select 'past', 'worlds', 2, '{}', 'p' || i, '2030-01-01' from generate_series(1, 20000) i");
  session.must("delete from core.outbox; select setval('core.outbox_seq', 1, false)");
  session.must(std::string{keyed} +
               "('one', 'worlds', 1, '{}', 'k'), ('two', 'worlds', 1, '{}', 'k'), "
               "('three', 'worlds', 1, '{}', 'l')");
  const std::string one = id("one");
  const auto parked = [&](const char* type) {
    return std::string{"select core.outbox_park(array['"} + id(type) + "'::uuid])";
  };
  const auto claimed = [&](int from, int next) {
    return "select count(*) from core.outbox_claim(1, 'w', 1, '1 min', " + std::to_string(from) + ", " +
           std::to_string(from + 1) + ", null, null, null, true, '{" + std::to_string(next) + "}')";
  };
  const std::string released = "select count(*) from core.keys_release('{k}', array['" + one + "'::uuid])";
  const std::string expired = "select count(*) from core.outbox_expired(10)";
  const std::string closed = "select core.claims_close(array(select batch from core.claims))";
  const std::string handled = "select count(*) from core.handled_among('{a.b}', '{key}')";
  const std::string given_back = "update core.outbox set status = 'pending', retry_after = now() where event_type = ";

  // As the server does when some rows have changed. Then each once, so that the session has its plan.
  session.must("vacuum (analyze, truncate off) core.outbox");
  session.must(claimed(0, 3));
  session.must(parked("two"));
  session.must(closed);
  session.must("update core.claims set expires_at = now()");
  session.must(expired);
  session.must(released);
  session.must(handled);
  session.must(given_back + "'one'");
  session.must("delete from core.keys_in_flight");

  session.must(insert(20000, "delivered"));
  session.must(
      "insert into core.event_handled (handler_name, idempotency_key) select 'a.b', i from generate_series(1, 20000) "
      "i");
  session.must(
      "update core.outbox set retry_after = now() + interval '1 hour' where seq % 2 = 0 and event_type = 'delivered'");
  session.must(std::string{keyed} +
               "('four', 'worlds', 1, '{}', 'm'), ('five', 'worlds', 1, '{}', 'm'), "
               "('six', 'worlds', 1, '{}', 'n')");
  session.must("vacuum core.outbox");
  explain_everything();
  session.must("set auto_explain.log_analyze = on; set auto_explain.log_timing = off");
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    for (const std::string& statement :
         {claimed(20003, 20006), parked("five"), closed, std::string{"update core.claims set expires_at = now()"},
          expired, released, handled, given_back + "'four'", std::string{"delete from core.keys_in_flight"}}) {
      const std::string plans = session.notices(statement);
      // Written by the test, not by a store.
      if (statement.starts_with("update") && statement != given_back + "'four'") continue;
      EXPECT_LT(most_rows(plans.substr(0, plans.rfind("Query Text: " + statement))), 100) << statement << "\n" << plans;
    }
  }
}

// The events of one key in order, with other keys all around: outbox_keyed once looked as cheap and read them all.
TEST_F(PostgresPlans, TheEventsOfAKeyAreFoundByTheirKey) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' || i % 1000 from generate_series(1, 20000) i");
  // As the functions that ask have it.
  session.must("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off");
  explain_everything();
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    const std::string plans = session.notices("select core.outbox_blocker('k7', 15007, core.uuid_v7())");
    EXPECT_NE(plans.find("outbox_waiting_keys"), std::string::npos) << plans;
    EXPECT_NE(plans.find("outbox_ordering"), std::string::npos) << plans;
    EXPECT_EQ(plans.find("Seq Scan on outbox"), std::string::npos) << plans;
    EXPECT_EQ(plans.find("outbox_keyed"), std::string::npos) << plans;
    session.must("discard plans");
  }
}

TEST_F(PostgresPlans, ThePlanIsPinnedOnStaleStatistics) {
  // Statistics say "empty table", then "everything is delivered": both mislead a planner that is free.
  session.must("analyze core.outbox");
  session.must(insert(20000, "a"));
  explain_everything();
  const auto plans = [&] {
    return session.notices(
        "select count(*) from core.outbox_claim(1, 'w', 100, '1 min', 0, null, null, null, null, true)");
  };
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    const std::string plan = plans();
    EXPECT_NE(plan.find("Index Scan using outbox_scan"), std::string::npos) << plan;
    EXPECT_NE(plan.find("Index Scan using outbox_waiting"), std::string::npos) << plan;
    EXPECT_NE(plan.find("Tid Scan on outbox"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Seq Scan on outbox"), std::string::npos) << plan;
    // The only sort is that of what the lanes yielded, at most a batch each.
    const std::size_t sort = plan.find("Sort Key: w.retry_after");
    EXPECT_EQ(plan.find("Sort Key"), sort) << plan;
    EXPECT_EQ(plan.find("Sort Key", sort + 1), std::string::npos) << plan;
  }
}

// A session plans a statement anew for each call as long as a plan for just these values looks cheaper than one for
// any: for arrays of one it did, and planning was half of what a publish cost.
TEST_F(PostgresPlans, APublishIsNotPlannedAnewForEachCall) {
  session.must(insert(20000, "before"));
  std::ifstream file{SLUICE_SOURCE_DIR "/src/store/postgres/sql/query/publish.sql"};
  session.must("prepare publish as " + std::string{std::istreambuf_iterator<char>{file}, {}});
  for (int call = 0; call < 10; ++call) {
    session.must(
        "execute publish(array[core.uuid_v7()], '{a}', '{1}', array[now()], '{worlds}', '{null}', '{default}', "
        "'{outbox_gen_1}', '{1}', '{null}', array['{}'::jsonb], array[core.uuid_v7()::text], '{null}', '{null}', "
        "'{null}', '{null}')");
  }
  EXPECT_EQ(session.must("select custom_plans from pg_prepared_statements where name = 'publish'").value(), "5");
  EXPECT_EQ(count("event_type = 'a'"), "10");
}

TEST_F(PostgresPlans, AStretchIsTakenInOnePassOverItsIndex) {
  session.must(insert(20000, "a"));
  explain_everything();
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    const std::string plan =
        session.notices("select count(*) from core.outbox_claim_stretch(1, 'w', '1 min', 0, 100, null, null, null)");
    EXPECT_NE(plan.find("Index Scan using outbox_scan"), std::string::npos) << plan;
    EXPECT_NE(plan.find("Index Scan using outbox_waiting"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("LockRows"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Seq Scan on outbox"), std::string::npos) << plan;
  }
}

}  // namespace
}  // namespace sluice::test
