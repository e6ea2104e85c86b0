// What each role may do, tried as a real login.
#include <gtest/gtest.h>
#include <unistd.h>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

class PostgresRoles : public testing::Test {
 protected:
  void SetUp() override {
    owner_ = open(database_.url());
    SqlSession admin{database_.url()};
    for (const auto& [grant, suffix] : kLogins) {
      admin.must("create role " + login(suffix) + " login password 'pw'");
      const auto granted = owner_->grant(grant, login(suffix));
      ASSERT_TRUE(granted) << granted.error().message;
    }
  }
  void TearDown() override {
    SqlSession admin{database_.url()};
    for (const auto& [grant, suffix] : kLogins) admin.must("drop role " + login(suffix));
  }

  static std::string login(const char* suffix) { return "t" + std::to_string(getpid()) + "_" + suffix; }
  static std::unique_ptr<store::Store> open(const std::string& url) {
    store::PostgresOptions options;
    options.dsn = url;
    options.sweep_interval = {};
    auto opened = store::open_postgres(options);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(opened).value();
  }
  [[nodiscard]] std::string url(const char* suffix) const { return database_.url(login(suffix), "pw"); }
  void fail_one() {
    SqlSession admin{database_.url()};
    admin.must(
        "insert into core.outbox (event_type, source, generation, payload, status) values ('a.b', 'worlds', 1, '{}', "
        "'failed')");
  }

  static constexpr std::array<std::pair<store::Grant, const char*>, 4> kLogins{{{store::Grant::publisher, "publisher"},
                                                                                {store::Grant::worker, "worker"},
                                                                                {store::Grant::op, "operator"},
                                                                                {store::Grant::reader, "reader"}}};
  PostgresDatabase database_;
  std::unique_ptr<store::Store> owner_;
};

store::NewEvent sample() {
  EnvelopeDraft draft;
  draft.event_id = make_uuid_v7(Timestamp{std::chrono::seconds{1'780'000'000}}, {1, 2, 3});
  draft.event_type = "a.b";
  draft.occurred_at = Timestamp{std::chrono::seconds{1'780'000'000}};
  draft.source = "worlds";
  return {.envelope = EventEnvelope::make(std::move(draft)).value()};
}

TEST_F(PostgresRoles, PublisherPublishesAndReadsNothing) {
  const auto event = sample();
  const auto published = open(url("publisher"))->publish(std::span{&event, 1});
  ASSERT_TRUE(published) << published.error().message;
  SqlSession session{url("publisher")};
  session.must("insert into core.outbox (event_type, source, generation, payload) values ('a.b', 'worlds', 1, '{}')");
  session.must("select core.outbox_publish('a.b')");
  EXPECT_EQ(session.run("select payload from core.outbox").sqlstate, "42501");
  EXPECT_EQ(session.run("update core.outbox set status = 'delivered'").sqlstate, "42501");
  EXPECT_EQ(session.run("delete from core.outbox").sqlstate, "42501");
  EXPECT_EQ(
      session.run("insert into core.outbox (event_type, source, generation, status) values ('a', 'b', 1, 'delivered')")
          .sqlstate,
      "42501");
  EXPECT_EQ(
      session.run("insert into core.outbox (event_type, source, generation, seq) values ('a', 'b', 1, 1)").sqlstate,
      "42501");
  EXPECT_EQ(session.run("select core.outbox_replay(core.uuid_v7(), 1, 'x')").sqlstate, "42501");
  EXPECT_EQ(
      session.run("select * from core.outbox_claim(1, 'w', 1, '1 min', 0, null, null, null, null, true)").sqlstate,
      "42501");
  EXPECT_EQ(session.run("select * from core.audit").sqlstate, "42501");
}

TEST_F(PostgresRoles, WorkerClaimsAndSettlesButCannotUpdate) {
  const auto event = sample();
  ASSERT_TRUE(owner_->publish(std::span{&event, 1}));
  const auto worker = open(url("worker"));
  const auto claimed = worker->claim({.worker = "w", .limit = 10});
  ASSERT_TRUE(claimed) << claimed.error().message;
  ASSERT_EQ(claimed->size(), 1U);
  store::SettleItem item{
      .claim = claimed->front().claim, .settlement = {}, .handled_by = {"a.b"}, .idempotency_key = "k"};
  const auto settled = worker->settle(std::span{&item, 1});
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_EQ(settled->settled, 1);
  ASSERT_TRUE(worker->expired_claims(10));
  ASSERT_TRUE(worker->claims_held_by("nobody", 10));
  ASSERT_TRUE(worker->sweep_retention({}, 10, false));
  SqlSession session{url("worker")};
  EXPECT_EQ(session.run("update core.outbox set claimed_by = 'me'").sqlstate, "42501");
  EXPECT_EQ(session.run("select core.outbox_replay(core.uuid_v7(), 1, 'x')").sqlstate, "42501");
  EXPECT_EQ(session.run("insert into core.audit (actor, surface, action) values ('x', 'y', 'z')").sqlstate, "42501");
}

TEST_F(PostgresRoles, OperatorReplaysAndDiscardsUnderItsOwnName) {
  fail_one();
  SqlSession session{url("operator")};
  session.must("select core.outbox_replay(id, 2, 'alice') from core.outbox");
  EXPECT_EQ(session.run("update core.outbox set status = 'delivered'").sqlstate, "42501");
  fail_one();
  session.must("update core.outbox set deleted_at = now() where status = 'failed'");
  const auto audit = session.must("select action, actor, db_user from core.audit order by id");
  ASSERT_EQ(audit.rows.size(), 2U);
  EXPECT_EQ(audit.rows[0][0], "replay");
  EXPECT_EQ(audit.rows[0][1], "alice");
  EXPECT_EQ(audit.rows[0][2], login("operator")) << "whatever name is given, the database knows who it was";
  EXPECT_EQ(audit.rows[1][0], "discard");
  EXPECT_EQ(session.run("delete from core.audit").sqlstate, "42501");
  EXPECT_EQ(session.run("insert into core.audit (actor, surface, action) values ('x', 'y', 'z')").sqlstate, "42501");
  EXPECT_EQ(session.run("update core.outbox set deleted_at = now() where status = 'pending'").sqlstate, "SL409");
}

store::PlanRequest plan_of_everything() {
  store::PlanRequest request;
  request.id = make_uuid_v7(Timestamp{std::chrono::seconds{1'780'000'000}}, {7});
  request.to_generation = 1;
  request.actor = {"alice", "cli", "upstream is back"};
  return request;
}

TEST_F(PostgresRoles, ReaderSeesTheDeadLettersAndPlansNothing) {
  fail_one();
  const auto reader = open(url("reader"));
  const auto groups = reader->failure_groups({});
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 1U);
  const auto page = reader->list_dead({.source = "worlds"}, 10, std::nullopt);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->events.size(), 1U);
  EXPECT_EQ(reader->count_dead({}, 10).value(), 1);
  ASSERT_TRUE(reader->audit({}, 10, std::nullopt));
  ASSERT_TRUE(reader->operations(10));

  EXPECT_EQ(reader->plan_operation(plan_of_everything()).error().code, ErrorCode::forbidden);
  EXPECT_EQ(reader->discard(page->events.front().envelope.event_id(), {"eve", "cli", "curious"}).error().code,
            ErrorCode::forbidden);
  EXPECT_EQ(reader->acknowledge(groups->front().fingerprint, true, {"eve", "cli", "curious"}).error().code,
            ErrorCode::forbidden);
  EXPECT_EQ(owner_->count_dead({}, 10).value(), 1);
}

TEST_F(PostgresRoles, AnOperatorStartsAReplayAndAWorkerCarriesItOut) {
  fail_one();
  const auto oper = open(url("operator"));
  const auto worker = open(url("worker"));
  const auto planned = oper->plan_operation(plan_of_everything());
  ASSERT_TRUE(planned) << planned.error().message;
  const store::Actor alice{"alice", "cli", "upstream is back"};
  EXPECT_EQ(worker->start_operation(planned->id, 1, {}, alice).error().code, ErrorCode::forbidden);
  ASSERT_TRUE(oper->start_operation(planned->id, 1, {}, alice));
  const auto held = worker->hold_operation(planned->id, "worker-1", std::chrono::seconds{30});
  ASSERT_TRUE(held) << held.error().message;
  const auto advanced = worker->advance_operation(planned->id, "worker-1", 10, Timestamp{});
  ASSERT_TRUE(advanced) << advanced.error().message;
  EXPECT_EQ(advanced->progress.counts.in_flight(), 1);
  EXPECT_EQ(worker->change_operation(planned->id, {}, alice).error().code, ErrorCode::forbidden);

  SqlSession session{url("operator")};
  const auto audit = session.must("select action, actor, db_user from core.audit");
  ASSERT_EQ(audit.rows.size(), 1U);
  EXPECT_EQ(audit.rows[0][0], "replay.bulk");
  EXPECT_EQ(audit.rows[0][2], login("operator"));
  EXPECT_EQ(session.run("update core.operations set total = 0").sqlstate, "42501");
}

// A database whose roles were granted before new functions and tables came.
TEST_F(PostgresRoles, AMigrationRenewsTheGrants) {
  SqlSession admin{database_.url()};
  admin.must("drop function core.filter_save; drop function core.filter_remove; drop table core.saved_filters");
  admin.must(
      "drop function core.handled_among; alter function core.claim_holes(bigint, bigint, bigint, text[]) rename to "
      "of_now; "
      "create function core.claim_holes(bigint, bigint, bigint) returns void language sql as ''; drop function "
      "core.of_now; "
      "alter table core.claim_cursors drop column passed; drop function core.subscriptions_hold; drop function "
      "core.subscriptions_freeze; drop function core.outbox_free; drop function core.outbox_waits_for_nobody");
  admin.must("delete from core.sluice_migrations where name >= '0023'");
  const auto migrated = owner_->migrate();
  ASSERT_TRUE(migrated) << migrated.error().message;
  EXPECT_TRUE(migrated->back().applied_now);
  SqlSession caller{url("operator")};
  EXPECT_EQ(caller.run("select core.filter_remove('late', 'alice', 'sql', '')").sqlstate, "SL404")
      << "it may be called";
}

TEST_F(PostgresRoles, OnlyAWorkerReadsTheSecretThatSignsClaims) {
  const auto secret = owner_->token_secret();
  ASSERT_TRUE(secret) << secret.error().message;
  const auto read = open(url("worker"))->token_secret();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, *secret);
  for (const char* other : {"publisher", "operator", "reader"}) {
    SqlSession session{url(other)};
    EXPECT_EQ(session.run("select core.token_secret()").sqlstate, "42501") << other;
  }
  for (const char* any : {"publisher", "operator", "reader", "worker"}) {
    SqlSession session{url(any)};
    EXPECT_EQ(session.run("select * from core.secrets").sqlstate, "42501") << any;
    EXPECT_EQ(session.run("update core.secrets set value = 'mine'").sqlstate, "42501") << any;
  }
}

TEST_F(PostgresRoles, ReaderListsAndCannotReplay) {
  fail_one();
  const auto reader = open(url("reader"));
  const auto page = reader->list_events({.status = Status::failed}, 10, std::nullopt);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->events.size(), 1U);
  ASSERT_TRUE(reader->status());
  const auto replayed = reader->replay(page->events.front().envelope.event_id(), 1, {"eve", "cli", "curious"});
  ASSERT_FALSE(replayed);
  EXPECT_EQ(replayed.error().code, ErrorCode::forbidden);
}

TEST_F(PostgresRoles, FunctionsRunAsARoleThatCannotLogIn) {
  SqlSession session{database_.url()};
  // But for the one that makes and drops partitions: that takes the owner of the table.
  EXPECT_EQ(session
                .must("select string_agg(p.proname, ' ') from pg_proc p join pg_roles r on r.oid = p.proowner where "
                      "p.pronamespace = 'core'::regnamespace "
                      "and p.prosecdef and (r.rolcanlogin or r.rolsuper)")
                .value(),
            "partition_upkeep");
  EXPECT_EQ(session
                .must("select count(*) from pg_proc p where p.pronamespace = 'core'::regnamespace and p.prosecdef and "
                      "not exists (select "
                      "from unnest(p.proconfig) c where c = 'search_path=pg_catalog, pg_temp')")
                .value(),
            "0")
      << "every SECURITY DEFINER function pins its search_path";
}

TEST_F(PostgresRoles, GrantIsRepeatableAndNamesAMissingMember) {
  ASSERT_TRUE(owner_->grant(std::nullopt, ""));
  const auto missing = owner_->grant(store::Grant::reader, "nobody \"at\" all");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().field, "member");
}

}  // namespace
}  // namespace sluice::test
