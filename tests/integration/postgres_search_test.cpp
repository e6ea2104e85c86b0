// The indexes for searches on a real server: that they serve, that a kill leaves nothing that stays, months to come.
#include <gmock/gmock.h>

#include <thread>

#include "tests/integration/claim_fixture.hpp"
#include "tests/integration/query_plan.hpp"
#include "tests/support/events.hpp"
#include "tests/support/partitions.hpp"

namespace sluice::test {
namespace {

using store::SearchIndex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const store::Actor kSearcher{"alice", "tests", "orders are looked for"};

class PostgresSearch : public PostgresClaim {
 protected:
  /// Takes all steps, and gives those that were left before.
  std::vector<std::string> change(SearchIndex index, bool drop = false) {
    const auto left = store->index_sql({index, drop, false});
    EXPECT_TRUE(left) << (left ? "" : left.error().message);
    for (int step = 0; step < 100; ++step) {
      const auto taken = store->take_index_step({index, drop, step == 0}, kSearcher);
      EXPECT_TRUE(taken) << (taken ? "" : taken.error().message);
      if (!taken || !*taken) break;
    }
    return left ? *left : std::vector<std::string>{};
  }
  std::string indexes(const std::string& like) {
    return session
        .must(
            "select coalesce(string_agg(c.relname || case when i.indisvalid then '' else ' invalid' end, ' ' order by "
            "c.relname), '') from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname like '" +
            like + "'")
        .value();
  }
  /// As a kill in the middle of CREATE INDEX CONCURRENTLY leaves it.
  void damage(const std::string& name) {
    session.must("update pg_index set indisvalid = false where indexrelid = 'core." + name + "'::regclass");
  }
  void publish(int count) {
    session.must(
        "insert into core.outbox (event_type, source, generation, payload, trace_context) select 'order.placed', "
        "'shop', 1, "
        "jsonb_build_object('order', jsonb_build_object('id', n), 'text', repeat('x', 50)), '00-' || md5(n::text) || "
        "'-b7ad6b7169203331-01' from generate_series(1, " +
        std::to_string(count) + ") n; analyze core.outbox");
  }

  std::unique_ptr<store::Store> store = open();
};

TEST_F(PostgresSearch, TheIndexServesARareValue) {
  publish(20'000);
  const std::string search =
      "explain (costs off) select id from core.outbox o where ('x' is null or o.payload @@ '($.\"order\".\"id\" == "
      "\"77\" || "
      "$.\"order\".\"id\" == 77)'::text::jsonpath) order by seq desc limit 51";
  const auto plan = [&](const std::string& sql) {
    std::string lines;
    for (const auto& row : session.must(sql).rows) lines += row.front().value_or("") + '\n';
    return lines;
  };
  EXPECT_THAT(plan(search), Not(HasSubstr("outbox_payload")));
  change(SearchIndex::payload);
  change(SearchIndex::trace);
  session.must("analyze core.outbox");
  const std::string served = plan(
      "explain (costs off) select id from core.outbox o where o.payload @@ "
      "'($.\"order\".\"id\" == \"77\" || $.\"order\".\"id\" == 77)'::jsonpath");
  EXPECT_THAT(served, HasSubstr("outbox_payload"));
  EXPECT_THAT(plan("explain (costs off) select id from core.outbox o where substr(o.trace_context, 4, 32) = md5('77')"),
              HasSubstr("outbox_trace"));
  store::EventFilter filter;
  filter.payload = {{{"order", "id"}, "77"}};
  EXPECT_EQ(store->list_events(filter, 10, {}).value().events.size(), 1U);
}

TEST_F(PostgresSearch, WhatAKillLeftIsMadeAgain) {
  publish(10);
  change(SearchIndex::payload);
  damage("outbox_payload");
  EXPECT_FALSE(store->has_index(SearchIndex::payload).value());
  EXPECT_THAT(store->validate().value(), ElementsAre(HasSubstr("sluice db index payload")));
  const auto left = change(SearchIndex::payload);
  EXPECT_THAT(
      left, ElementsAre("drop index concurrently core.outbox_payload",
                        "create index concurrently outbox_payload on core.outbox using gin (payload jsonb_path_ops)"));
  EXPECT_EQ(indexes("%outbox_payload%"), "outbox_payload");
  EXPECT_THAT(store->validate().value(), IsEmpty());
}

TEST_F(PostgresSearch, PartitionsAreTakenOneByOneAndMonthsToComeHaveIt) {
  ASSERT_TRUE(make_partitions(*store));
  publish(10);
  const auto left = change(SearchIndex::payload);
  EXPECT_THAT(left.front(), HasSubstr("on only core.outbox"));
  EXPECT_TRUE(store->has_index(SearchIndex::payload).value());
  EXPECT_THAT(indexes("outbox%payload"), Not(HasSubstr("invalid")));
  session.must("select core.partition_add('2031-01-01+00', '2031-02-01+00')");
  EXPECT_THAT(indexes("outbox_2031%payload"), HasSubstr("outbox_2031_01_payload"));
  EXPECT_TRUE(store->has_index(SearchIndex::payload).value());
  EXPECT_THAT(store->index_sql({SearchIndex::payload, false, false}).value(), IsEmpty());
  EXPECT_THAT(store->validate().value(), IsEmpty());
  change(SearchIndex::payload, true);
  EXPECT_EQ(indexes("outbox%payload"), "");
}

TEST_F(PostgresSearch, AKillBetweenPartitionsIsGoneOnFrom) {
  ASSERT_TRUE(make_partitions(*store));
  for (int step = 0; step < 2; ++step)
    ASSERT_TRUE(store->take_index_step({SearchIndex::payload, false, false}, kSearcher).value());
  EXPECT_FALSE(store->has_index(SearchIndex::payload).value()) << "one partition has it, the others do not";
  const std::string half = indexes("outbox_until%payload");
  damage(half);
  const auto left = change(SearchIndex::payload);
  EXPECT_THAT(left.front(), HasSubstr("drop index concurrently core." + half));
  EXPECT_TRUE(store->has_index(SearchIndex::payload).value());
}

TEST_F(PostgresSearch, AHalfMadeIndexIsDropped) {
  ASSERT_TRUE(make_partitions(*store));
  for (int step = 0; step < 2; ++step)
    ASSERT_TRUE(store->take_index_step({SearchIndex::trace, false, false}, kSearcher).value());
  change(SearchIndex::trace, true);
  EXPECT_EQ(indexes("outbox%trace"), "");
}

TEST_F(PostgresSearch, TheIndexGoesAlongIntoPartitions) {
  publish(10);
  change(SearchIndex::payload);
  ASSERT_TRUE(make_partitions(*store, 1));
  EXPECT_TRUE(store->has_index(SearchIndex::payload).value());
  EXPECT_THAT(store->validate().value(), IsEmpty());
}

TEST_F(PostgresSearch, OneAtATime) {
  session.must("select pg_advisory_lock(hashtextextended('sluice.index', 0))");
  const auto taken = store->take_index_step({SearchIndex::payload, false, true}, kSearcher);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::conflict);
  EXPECT_THAT(taken.error().message, HasSubstr("at work"));
}

TEST_F(PostgresSearch, ALockThatIsHeldIsNamedAndLeavesNothing) {
  ASSERT_TRUE(make_partitions(*store));
  session.must("begin; lock table core.outbox in row exclusive mode");
  const auto taken = store->take_index_step({SearchIndex::payload, false, true}, kSearcher);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::timeout);
  EXPECT_THAT(taken.error().message, HasSubstr("holds it"));
  session.must("rollback");
  change(SearchIndex::payload);
  EXPECT_TRUE(store->has_index(SearchIndex::payload).value());
}

}  // namespace
}  // namespace sluice::test
