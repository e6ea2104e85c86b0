// Life in partitions: places that two months share, ids that cross them, months that are made, dropped and held.
#include <gmock/gmock.h>

#include <thread>

#include "tests/integration/claim_fixture.hpp"
#include "tests/support/events.hpp"
#include "tests/support/partitions.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class Partitions : public PostgresClaim {
 protected:
  void SetUp() override {
    const auto made = make_partitions(*store);
    ASSERT_TRUE(made) << made.error().message;
  }

  /// An event that occurred in the month so far from now; its id is returned, or that of the one given.
  static store::NewEvent in_month(int month, std::optional<Uuid> id = {}, const std::string& key = {}) {
    EnvelopeDraft draft = a_draft();
    if (id) draft.event_id = *id;
    draft.occurred_at = month_from_now(month) + 1h;
    store::NewEvent event = an_event(std::move(draft));
    if (!key.empty()) event.ordering_key = key;
    return event;
  }
  Uuid publish(const store::NewEvent& event) {
    const auto published = store->publish(std::span{&event, 1});
    EXPECT_TRUE(published) << (published ? "" : published.error().message);
    return event.envelope.event_id();
  }
  std::string status(const Uuid& id) {
    return session.must("select status || ' ' || claim_seq from core.outbox where id = '" + id.to_string() + "'")
        .value();
  }
  /// Everything is that much older, triggers aside.
  void age(const std::string& by) {
    session.must(
        "set session_replication_role = replica; update core.outbox set published_at = published_at - interval '" + by +
        "', delivered_at = delivered_at - interval '" + by + "', failed_at = failed_at - interval '" + by +
        "', deleted_at = deleted_at - interval '" + by + "'; reset session_replication_role");
  }
  Result<std::optional<store::PartitionChange>> keep(bool dry_run = false) {
    return store->keep_partitions({}, dry_run, {"sluice", "daemon", "retention"});
  }
  /// All that is to do, as `created outbox_2026_12`.
  std::vector<std::string> keep_all() {
    std::vector<std::string> done;
    for (;;) {
      const auto kept = keep();
      EXPECT_TRUE(kept) << (kept ? "" : kept.error().message);
      if (!kept || !*kept) return done;
      done.push_back((*kept)->action + " " + (*kept)->name);
    }
  }
  static std::string leaf(int month) {
    std::string name = "outbox_" + to_iso8601(month_from_now(month)).substr(0, 7);
    name[name.find('-')] = '_';
    return name;
  }

  std::unique_ptr<store::Store> store = open();
};

TEST_F(Partitions, AClaimTakesNoNeighbourOfTheSamePlace) {
  const Uuid here = publish(in_month(0));
  const Uuid there = publish(in_month(1));
  ASSERT_EQ(count("ctid = '(0,1)'"), "2");
  EXPECT_EQ(claim(*store, 1).size(), 1U);
  EXPECT_EQ(status(here), "in_flight 1");
  EXPECT_EQ(status(there), "pending 0");
}

TEST_F(Partitions, AClaimOfSeveralMonthsTakesEachOnce) {
  for (int place = 0; place < 3; ++place) {
    for (const int month : {-3, -1, 0, 1, 7}) publish(in_month(month));
  }
  publish(in_month(0, {}, "k"));
  publish(in_month(1, {}, "k"));
  const auto claimed = claim(*store);
  EXPECT_EQ(claimed.size(), 16U) << "the second of the key waits";
  EXPECT_EQ(count("status = 'in_flight' and claim_seq = 1"), "16");
  deliver(*store, claimed);
  EXPECT_EQ(count("status = 'delivered'"), "16");
  EXPECT_EQ(claim(*store).size(), 1U);
}

TEST_F(Partitions, WhatIsDueIsClaimedInItsMonthOnly) {
  const Uuid here = publish(in_month(0));
  const Uuid there = publish(in_month(1));
  session.must("update core.outbox set retry_after = now() where id = '" + there.to_string() + "'");
  const auto first = claim(*store, 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first.front().envelope.event_id(), there);
  EXPECT_EQ(status(here), "pending 0");
}

TEST_F(Partitions, ASettleChangesNoNeighbourOfTheSamePlace) {
  const Uuid before = publish(in_month(-1));
  const Uuid between = publish(in_month(0));
  const Uuid after = publish(in_month(1));
  const auto claimed = claim(*store);
  ASSERT_EQ(claimed.size(), 3U);
  deliver(*store, {claimed[0], claimed[2]});
  EXPECT_EQ(status(before), "delivered 1");
  EXPECT_EQ(status(between), "in_flight 1");
  EXPECT_EQ(status(after), "delivered 1");
  EXPECT_TRUE(store->heartbeat(std::vector{claimed[1].claim}, 5min)->empty());
  deliver(*store, {claimed[1]});
  EXPECT_EQ(status(between), "delivered 1");
}

// In an empty month every index looks cheap, and the plan is kept while the month fills up.
TEST_F(Partitions, AClaimIsPlannedOverTheScanInEmptyMonthsToo) {
  publish(in_month(0));
  explain_everything();
  const std::string plans = session.notices(
      "select count(*) from core.outbox_claim_stretch(1, 'w', '1 min', 0, 1, null, null, null);"
      "select count(*) from core.outbox_claim(1, 'w', 10, '1 min', 0, null, null, null, null, true)");
  EXPECT_THAT(plans, HasSubstr(leaf(1) + "_scan"));
  EXPECT_THAT(plans, testing::Not(HasSubstr("_age")));
  EXPECT_THAT(plans, testing::Not(HasSubstr("Seq Scan on outbox")));
}

TEST_F(Partitions, AnIdIsPublishedOnceWhateverItsMonth) {
  const Uuid id = publish(in_month(0));
  for (const int month : {-3, -1, 1, 9}) {
    const auto again = store->publish(std::vector{in_month(month, id)});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->front(), store::PublishOutcome::duplicate);
    session.must("select core.outbox_publish('a.b', p_event_id => '" + id.to_string() + "', p_occurred_at => '" +
                 to_iso8601(month_from_now(month)) + "')");
    session.must("insert into core.outbox (id, event_type, source, generation, occurred_at) values ('" +
                 id.to_string() + "', 'a.b', 'x', 1, '" + to_iso8601(month_from_now(month)) + "')");
  }
  const std::vector both{in_month(0), in_month(1)};
  const auto twice = store->publish(std::vector{both[0], in_month(1, both[0].envelope.event_id())});
  ASSERT_TRUE(twice);
  EXPECT_EQ(count("true"), "2");
  EXPECT_EQ(session
                .run("insert into core.outbox (id, event_type, source, generation) values ('" + id.to_string() +
                     "', 'a.b', 'x', 1)")
                .sqlstate,
            "23505")
      << "within the month as on one table";
}

TEST_F(Partitions, MonthsAreMadeAheadAndForWhatTheDefaultHolds) {
  const Uuid late = publish(in_month(8, {}, "k"));
  const auto claimed = claim(*store);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ((*keep(true))->name, leaf(2)) << "a dry run says what is next";
  EXPECT_THAT(keep_all(), testing::ElementsAre("created " + leaf(2), "created " + leaf(3), "created " + leaf(8)));
  EXPECT_EQ(session.must("select tableoid::regclass from core.outbox").value(), "core." + leaf(8));
  EXPECT_EQ(session.must("select count(*) from core.keys_in_flight").value(), "1") << "a move is no end";
  deliver(*store, claimed);
  EXPECT_EQ(status(late), "delivered 1");
  EXPECT_EQ(session.must("select count(*) from core.audit where action = 'partition.created'").value(), "3");
}

TEST_F(Partitions, AMonthOfWhichEverythingIsOldIsDropped) {
  keep_all();
  publish(in_month(-1));
  publish(in_month(-1));
  deliver(*store, claim(*store));
  const Uuid kept = publish(in_month(0));
  age("53 days");
  session.must(
      "alter table core.outbox detach partition core." + leaf(-1) + "; alter table core." + leaf(-1) +
      " rename to outbox_2001_01;"
      "set session_replication_role = replica; update core.outbox_2001_01 set occurred_at = '2001-01-05'; reset "
      "session_replication_role;"
      "alter table core.outbox_until_" +
      leaf(-1).substr(7) +
      " rename to o; alter table core.outbox detach partition core.o; drop table core.o;"
      "alter table core.outbox attach partition core.outbox_2001_01 for values from ('2001-01-01') to ('2001-02-01')");
  EXPECT_EQ((*keep(true))->action, "dropped");
  EXPECT_EQ((*keep(true))->action, "dropped") << "a dry run drops nothing";
  EXPECT_THAT(keep_all(), testing::ElementsAre("dropped outbox_2001_01"));
  EXPECT_EQ(status(kept), "pending 0");
  EXPECT_EQ(session.must("select count from core.audit where action = 'partition.dropped'").rows.size(), 1U);
}

class HeldPartitions : public Partitions {
 protected:
  // The oldest partition, of all that occurred before last month: past its time in the eyes of a short policy.
  void SetUp() override {
    Partitions::SetUp();
    keep_all();
    publish(in_month(-5));
  }
  std::vector<std::string> dropped() {
    std::vector<std::string> names;
    for (;;) {
      RetentionPolicies policies;
      policies.outbox = {std::chrono::days{5}, std::chrono::days{1}};
      const auto kept = store->keep_partitions(policies, false, {"sluice", "daemon", "retention"});
      EXPECT_TRUE(kept) << (kept ? "" : kept.error().message);
      if (!kept || !*kept) return names;
      if ((*kept)->action == "dropped") names.push_back((*kept)->name);
    }
  }
  std::string oldest = "outbox_until_" + leaf(-1).substr(7);
};

TEST_F(HeldPartitions, ByWhatIsPending) {
  age("53 days");
  EXPECT_THAT(dropped(), testing::Not(testing::Contains(oldest)));
}

TEST_F(HeldPartitions, ByWhatIsNotOldEnough) {
  deliver(*store, claim(*store));
  EXPECT_THAT(dropped(), testing::Not(testing::Contains(oldest)));
  age("53 days");
  EXPECT_THAT(dropped(), testing::Contains(oldest));
  EXPECT_EQ(count("true"), "0");
}

TEST_F(HeldPartitions, ByDeadLettersUntilTheSweepHasTakenThem) {
  const auto claimed = claim(*store);
  store::SettleItem item{.claim = claimed.front().claim, .settlement = {}, .handled_by = {}, .idempotency_key = "k"};
  item.settlement.next = Status::failed;
  item.settlement.last_error = "TimeoutError: no";
  ASSERT_EQ(store->settle(std::span{&item, 1})->settled, 1);
  age("53 days");
  EXPECT_THAT(dropped(), testing::Not(testing::Contains(oldest)));
  EXPECT_EQ(store->sweep_retention({}, 10, false)->outbox_tombstoned, 1);
  EXPECT_THAT(dropped(), testing::Not(testing::Contains(oldest))) << "its tombstone is kept as well";
  age("8 days");
  EXPECT_THAT(dropped(), testing::Contains(oldest));
}

// Between the check of the whole month and the lock under which it is dropped an operator sends one of its events
// again.
TEST_F(HeldPartitions, ByWhatIsSentAgainMeanwhile) {
  ASSERT_TRUE(store->subscribe(1, std::vector{Subscription{"a.handler", {"*"}, {}, {}}}));
  const auto claimed = claim(*store);
  deliver(*store, claimed);
  age("53 days");
  const Uuid id = claimed.front().envelope.event_id();
  // Longer than it takes to send it.
  session.must(
      "alter function core.partition_upkeep(interval, interval, interval, interval, int, boolean, text, text, text) "
      "set lock_timeout = '60s'");
  SqlSession sender{database.url()};
  sender.must("begin; select core.outbox_send_to('" + id.to_string() +
              "', 'a.handler', 'delivered', 1, 'alice', 'sql', 'lost')");
  std::vector<std::string> names;
  std::jthread keeper{[&] { names = dropped(); }};
  const auto waits_for_the_lock = [&] {
    return session
               .must(
                   "select count(*) from pg_locks l join pg_database d on d.oid = l.database and d.datname = "
                   "current_database() where l.relation = 'core.outbox'::regclass and not l.granted")
               .value() == "1";
  };
  while (!waits_for_the_lock()) continue;
  sender.must("commit");
  keeper.join();
  EXPECT_THAT(names, testing::Not(testing::Contains(oldest)));
  EXPECT_EQ(status(id), "pending 1");
}

TEST_F(Partitions, AHeldTableIsTriedAgain) {
  SqlSession other{database.url()};
  other.must("begin; select count(*) from core.outbox");
  const auto kept = keep();
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::timeout);
  other.must("commit");
  EXPECT_EQ(keep_all().size(), 2U);
}

TEST_F(Partitions, DeadLettersOfAMonthAreSweptOneByOneAndDeliveredEventsAreNot) {
  const Uuid dead = publish(in_month(0));
  const auto claimed = claim(*store);
  store::SettleItem item{.claim = claimed.front().claim, .settlement = {}, .handled_by = {}, .idempotency_key = "k"};
  item.settlement.next = Status::failed;
  ASSERT_EQ(store->settle(std::span{&item, 1})->settled, 1);
  publish(in_month(0));
  publish(in_month(-4));
  deliver(*store, claim(*store));
  age("46 days");
  const auto swept = store->sweep_retention({}, 10, false);
  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->outbox_tombstoned, 2) << "the dead letter, and the one that no month holds";
  EXPECT_EQ(swept->failed_swept, 1);
  EXPECT_EQ(count("deleted_at is not null and id = '" + dead.to_string() + "'"), "1");
}

TEST_F(PostgresClaim, StepsTowardsPartitionsThatNobodyFinishesAreUndone) {
  const auto store = open();
  const auto soon = *store->now() + std::chrono::days{1};
  ASSERT_TRUE(store->take_partition_step({store::PartitionStep::constrain, soon, 3}, {"alice", "cli", ""}));
  const auto kept = store->keep_partitions({}, false, {"sluice", "daemon", ""});
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ((*kept)->action, "abandoned");
  EXPECT_FALSE(store->partition_layout()->boundary);
  session.must("select core.outbox_publish('a.b', p_occurred_at => now() + interval '3 days')");
}

// Roles that `sluice db grant` has made before and after.
TEST_F(Partitions, RolesDoWhatTheyDidOnOneTable) {
  ASSERT_TRUE(store->grant({}, {}));
  session.must(
      "set role sluice_publisher; select core.outbox_publish('a.b'); insert into core.outbox (event_type, source, "
      "generation, "
      "idempotency_key) values ('a.b', 'x', 1, 'k'); reset role");
  session.must(
      "set role sluice_worker; select count(*) from core.outbox_claim(1, 'w', 10, '1 min', 0, null, null, null, null, "
      "true); "
      "select * from core.partition_upkeep('45 days', '7 days', '60 days', '7 days', 3, false, 'w', 'daemon', ''); "
      "select * from core.outbox_sweep('45 days', '7 days', '60 days', '7 days', 10, false); select * from "
      "core.partitions(); reset role");
  EXPECT_EQ(session.run("set role sluice_worker; drop table core." + leaf(0)).sqlstate, "42501");
  session.must("reset role");
  EXPECT_EQ(session
                .run("set role sluice_worker; select * from core.partition_upkeep('1 day', '1 day', '60 days', '7 "
                     "days', 3, false, "
                     "'w', 'daemon', '')")
                .sqlstate,
            "SL403");
}

}  // namespace
}  // namespace sluice::test
