// Each sickness made for real, and the doctor's finding about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "ops/check.hpp"
#include "ops/doctor_findings.hpp"
#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using ops::FindingId;
using ops::Severity;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using Schema = PostgresDatabase::Schema;

std::unique_ptr<store::Store> open_for_doctor(const std::string& url, Duration longest_statement = 10s) {
  store::PostgresOptions options;
  options.dsn = url;
  options.check_schema = false;
  options.max_connections = 2;
  options.longest_statement = longest_statement;
  auto opened = store::open_postgres(options);
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

ops::DoctorOptions options() {
  ops::DoctorOptions options;
  options.clock = [] {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  };
  return options;
}

// But for commits that wait for each other because they NOTIFY: those of all databases do, other tests' among them.
std::vector<ops::Finding> unwell(const ops::DoctorReport& report) {
  std::vector<ops::Finding> found;
  for (const ops::Finding& finding : report.findings) {
    if (finding.id == FindingId::doorbell_contention) continue;
    if (finding.severity > Severity::info) found.push_back(finding);
  }
  return found;
}

std::string all_titles(const ops::DoctorReport& report) {
  std::string text;
  for (const ops::Finding& finding : report.findings) {
    text += std::string{name(finding.severity)} + ' ' + std::string{name(finding.id)} + ": " + finding.title + '\n';
  }
  return text;
}

class PostgresDoctor : public testing::Test {
 protected:
  explicit PostgresDoctor(Schema schema = Schema::migrated) : database_(schema) {}

  ops::DoctorFacts facts() {
    auto gathered = ops::gather_facts(*store_, options());
    if (!gathered) throw std::runtime_error(gathered.error().message);
    return *std::move(gathered);
  }
  ops::DoctorReport report() { return ops::examine(*store_, options()); }
  static int pid_of(SqlSession& session) { return std::stoi(session.must("select pg_backend_pid()").value()); }

  PostgresDatabase database_;
  std::unique_ptr<store::Store> store_ = open_for_doctor(database_.url());
};

class PostgresDoctorWithoutSchema : public PostgresDoctor {
 protected:
  PostgresDoctorWithoutSchema() : PostgresDoctor(Schema::none) {}
};

TEST_F(PostgresDoctor, AHealthyDatabaseHasNoFindings) {
  const auto seen = report();
  EXPECT_THAT(unwell(seen), IsEmpty()) << all_titles(seen);
  EXPECT_THAT(seen.findings, Contains(Field(&ops::Finding::id, FindingId::listener_deaf)));
  EXPECT_THAT(seen.findings, Contains(Field(&ops::Finding::id, FindingId::clock_skew)));
}

TEST_F(PostgresDoctorWithoutSchema, AMissingSchemaIsTheOnlyFinding) {
  const auto seen = report();
  EXPECT_THAT(unwell(seen), ElementsAre(Field(&ops::Finding::id, FindingId::schema_version))) << all_titles(seen);
}

TEST_F(PostgresDoctor, AnIdleTransactionWithASnapshotPinsXmin) {
  SqlSession dump{database_.url()};
  const int pid = pid_of(dump);
  dump.must("set application_name = 'nightly dump'; begin isolation level repeatable read; select 1");
  SqlSession other{database_.url()};
  other.must("create table t (n int)");
  auto seen = facts();
  ASSERT_TRUE(seen.diagnosis.server->xmin);
  const auto& holders = *seen.diagnosis.server->xmin;
  const auto holder =
      std::find_if(holders.begin(), holders.end(), [&](const auto& one) { return one.session.pid == pid; });
  ASSERT_NE(holder, holders.end());
  EXPECT_EQ(holder->session.application, "nightly dump");
  EXPECT_EQ(holder->session.state, "idle in transaction");
  EXPECT_GT(holder->transactions, 0);
  ASSERT_TRUE(holder->session.transaction_age);

  // As it would be two hours later.
  seen.diagnosis.server->xmin = {{*holder}};
  seen.diagnosis.server->xmin->front().session.transaction_age = 2h;
  const auto findings = ops::findings_of(seen);
  EXPECT_EQ(findings.front().id, FindingId::xmin_pinned);
  EXPECT_THAT(findings.front().title, HasSubstr("pid " + std::to_string(pid) + " (nightly dump"));
}

TEST_F(PostgresDoctor, AListenerInATransactionIsSuspectedOfHoldingTheQueue) {
  SqlSession listener{database_.url()};
  const int pid = pid_of(listener);
  listener.must("listen somewhere");
  listener.must("set application_name = 'my listener'");
  listener.must("begin; select 1");
  SqlSession publisher{database_.url()};
  publisher.must("select core.outbox_publish('demo.hello', p_source => 'demo')");
  publisher.must("select pg_notify('somewhere', i || repeat('x', 7000)) from generate_series(1, 100) i");
  const auto seen = facts();
  const store::NotifyFacts& notify = seen.diagnosis.server->notify.value();
  EXPECT_GT(notify.queue_usage, 0);
  ASSERT_FALSE(notify.suspects.empty());
  EXPECT_EQ(notify.suspects.front().pid, pid);
  EXPECT_TRUE(notify.suspects.front().transaction_age);
}

TEST_F(PostgresDoctor, ALockOnTheOutboxIsSeenAndEndsNoLookForEver) {
  store_ = open_for_doctor(database_.url(), 200ms);
  SqlSession migrator{database_.url()};
  const int pid = pid_of(migrator);
  migrator.must("begin; lock table core.outbox in access exclusive mode");
  const auto seen = facts();
  const store::LockFacts& locks = seen.diagnosis.server->locks.value();
  ASSERT_EQ(locks.holders.size(), 1U);
  EXPECT_EQ(locks.holders.front().pid, pid);
  EXPECT_THAT(seen.unseen, Contains(Field(&store::Unseen::what, "expired claims")));
  EXPECT_THAT(seen.unseen, Contains(Field(&store::Unseen::what, "generations and workers")));
  for (const store::Unseen& one : seen.unseen) EXPECT_EQ(one.error.code, ErrorCode::timeout) << one.error.message;
}

TEST_F(PostgresDoctor, ExpiredClaimsWithoutAReaperAreCounted) {
  SqlSession session{database_.url()};
  session.must(
      "select core.outbox_publish('demo.hello', p_source => 'demo', p_generation => 1) from generate_series(1, 3)");
  ASSERT_EQ(store_->claim({.worker = "w", .limit = 2})->size(), 2U);
  EXPECT_EQ(facts().diagnosis.expired->count, 0);
  session.must("update core.outbox set claimed_at = now() - interval '1 hour' where status = 'in_flight'");
  session.must("update core.claims set expires_at = now() - interval '50 minutes'");
  const auto seen = report();
  const auto found = unwell(seen);
  EXPECT_THAT(found, Contains(Field(&ops::Finding::title, HasSubstr("2 events in flight whose claim ran out"))))
      << all_titles(seen);
}

TEST_F(PostgresDoctor, ADrainingGenerationWithoutWorkersIsCritical) {
  SqlSession session{database_.url()};
  session.must("select core.outbox_publish('demo.hello', p_source => 'demo', p_generation => 1)");
  session.must("insert into core.deployments (generation, state) values (1, 'draining')");
  const auto seen = report();
  EXPECT_EQ(seen.findings.front().id, FindingId::generation_abandoned) << all_titles(seen);
  EXPECT_EQ(seen.findings.front().severity, Severity::critical);
  EXPECT_EQ(seen.findings.front().title, "generation 1 (draining) has 1 event left and no live worker");
}

TEST_F(PostgresDoctor, EventsThatRetentionShouldHaveTakenAreFound) {
  SqlSession session{database_.url()};
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, status, published_at, failed_at) "
      "values ('a.b', 'worlds', 1, '{}', 'failed', now() - interval '50 days', now() - interval '50 days')");
  EXPECT_THAT(unwell(report()), Contains(Field(&ops::Finding::id, FindingId::retention_lag)));
}

TEST_F(PostgresDoctor, NumbersThatTheScanCannotRelyOnAreFoundWithTheirCure) {
  SqlSession session{database_.url()};
  session.must("select core.outbox_publish('demo.hello', p_source => 'demo') from generate_series(1, 3)");
  const auto damage = [&] { return store_->validate().value(); };
  const std::vector<std::pair<std::string, std::string>> sicknesses{
      {"alter sequence core.outbox_seq cache 20", "alter sequence core.outbox_seq cache 1"},
      {"alter sequence core.outbox_seq increment 2", "alter sequence core.outbox_seq increment 1"},
      {"alter sequence core.outbox_seq cycle", "alter sequence core.outbox_seq no cycle"},
      {"alter table core.outbox alter seq set default nextval('core.outbox_seq')",
       "alter table core.outbox alter column seq set default case when pg_current_xact_id() is not null then "
       "nextval('core.outbox_seq') end"},
      {"select setval('core.outbox_seq', 2)", "select setval('core.outbox_seq', 3)"},
      {"select setval('core.outbox_seq', 3, false)", "select setval('core.outbox_seq', 3)"},
      {"alter sequence core.outbox_seq restart with 1", "select setval('core.outbox_seq', 3)"},
      {"insert into core.claim_cursors (group_key, low) values ('1', 90)", "select setval('core.outbox_seq', 90)"}};
  for (const auto& [sickness, cure] : sicknesses) {
    EXPECT_THAT(damage(), IsEmpty()) << "before " << sickness;
    session.must(sickness);
    ASSERT_EQ(damage().size(), 1U) << sickness;
    EXPECT_THAT(damage()[0], HasSubstr(": run `" + cure + "`"));
    const auto worst = report().findings.front();
    EXPECT_EQ(worst.id, FindingId::outbox_sequence) << sickness;
    EXPECT_EQ(worst.severity, Severity::critical);
    EXPECT_EQ(worst.fix, cure);
    session.must(cure);
  }
  EXPECT_THAT(damage(), IsEmpty());
}

TEST_F(PostgresDoctor, AnEventThatTheScanHasPassedIsNamed) {
  SqlSession session{database_.url()};
  ASSERT_TRUE(store_->subscribe(1, std::vector{Subscription{.handler_name = "a.b", .event_types = {"demo.*"}}}));
  ASSERT_TRUE(store_->announce({.identity = "w", .generation = 1, .handlers = {"a.b"}, .listener = "listening"}));
  const std::string id = session.must("select core.outbox_publish('demo.hello', p_source => 'demo')").value();
  EXPECT_THAT(unwell(report()), IsEmpty());
  session.must("update core.outbox set published_at = now() - interval '6 minutes'");
  const auto late = report().findings.front();
  EXPECT_EQ(late.id, FindingId::events_overdue);
  EXPECT_EQ(late.severity, Severity::warning) << late.title;
  // The mark of a group that wants other events is no news.
  session.must(
      "insert into core.claim_cursors (group_key, low, generation, interests) values ('a', 1, 1, '{%/%/other.%}')");
  EXPECT_EQ(report().findings.front().severity, Severity::warning);
  session.must(
      "insert into core.claim_cursors (group_key, low, generation, interests) values ('b', 1, 1, '{%/%/demo.%}')");
  const auto passed = report().findings.front();
  EXPECT_EQ(passed.id, FindingId::events_overdue);
  EXPECT_EQ(passed.severity, Severity::critical);
  EXPECT_THAT(passed.title, testing::AllOf(HasSubstr("event " + id), HasSubstr("due for 6m"), HasSubstr("passed it")));
}

TEST_F(PostgresDoctor, ChecksReadTheSameDatabase) {
  SqlSession session{database_.url()};
  session.must(
      "select core.outbox_publish('demo.hello', p_source => 'demo', p_generation => 1) from generate_series(1, 3)");
  session.must(
      "update core.outbox set retry_after = now() + interval '1 hour' where seq = (select max(seq) from core.outbox)");
  session.must(
      "update core.outbox set published_at = now() - interval '1 minute' where seq = (select min(seq) from "
      "core.outbox)");
  const auto value = [&](std::string_view name) {
    const auto reading = ops::read_gauge(*store_, *ops::find_gauge(name), {1, 10});
    EXPECT_TRUE(reading) << reading.error().message;
    return reading->value;
  };
  EXPECT_EQ(value("backlog"), 2);
  EXPECT_GE(value("lag"), 60);
  EXPECT_EQ(value("dlq"), 0);
  EXPECT_LT(value("notify"), 25);
  EXPECT_EQ(value("listener"), 0);
  EXPECT_EQ(value("generation"), 3);
}

/// Logins with one role each.
class PostgresDoctorRoles : public PostgresDoctor {
 protected:
  void SetUp() override {
    SqlSession admin{database_.url()};
    admin.must("create role " + login("reader") + " login password 'pw'");
    admin.must("create role " + login("nobody") + " login password 'pw'");
    const auto granted = store_->grant(store::Grant::reader, login("reader"));
    ASSERT_TRUE(granted) << granted.error().message;
  }
  void TearDown() override {
    SqlSession admin{database_.url()};
    for (const char* role : {"reader", "nobody"}) admin.must("drop role " + login(role));
  }
  static std::string login(const std::string& suffix) { return "d" + std::to_string(getpid()) + "_" + suffix; }
  [[nodiscard]] std::string url(const std::string& suffix) const { return database_.url(login(suffix), "pw"); }
};

TEST_F(PostgresDoctorRoles, GrantsGiveEveryRoleWhatItNeeds) {
  const auto grants = facts().diagnosis.server->grants.value();
  EXPECT_TRUE(grants.owner);
  EXPECT_EQ(grants.roles.size(), 4U);
  EXPECT_THAT(grants.missing, IsEmpty());
}

TEST_F(PostgresDoctorRoles, AReaderGetsAReportAndIsToldWhatItDoesNotSee) {
  const auto reader = open_for_doctor(url("reader"));
  const auto seen = ops::examine(*reader, options());
  EXPECT_THAT(unwell(seen), IsEmpty()) << all_titles(seen);
  EXPECT_THAT(seen.findings,
              Contains(Field(&ops::Finding::fix, HasSubstr("grant pg_read_all_stats to " + login("reader")))));
  SqlSession admin{database_.url()};
  admin.must("grant pg_read_all_stats to " + login("reader"));
  const auto more = ops::examine(*open_for_doctor(url("reader")), options());
  EXPECT_THAT(more.findings, testing::Not(Contains(Field(&ops::Finding::id, FindingId::sight_limited))))
      << all_titles(more);
}

TEST_F(PostgresDoctorRoles, MissingGrantsAreNamed) {
  SqlSession admin{database_.url()};
  admin.must("revoke select on core.outbox from sluice_reader");
  admin.must(
      "revoke execute on function core.outbox_heartbeat(uuid[], bigint[], bigint[], interval) from sluice_worker");
  const auto missing = facts().diagnosis.server->grants->missing;
  EXPECT_THAT(missing,
              ElementsAre("sluice_reader: select on core.outbox", "sluice_worker: execute core.outbox_heartbeat"));
  EXPECT_THAT(unwell(report()), Contains(Field(&ops::Finding::id, FindingId::grants_missing)));
}

TEST_F(PostgresDoctorRoles, AUserWithoutAnyRoleIsRefusedWithTheReason) {
  store::PostgresOptions stranger;
  stranger.dsn = url("nobody");
  stranger.check_schema = false;
  const auto refused = store::open_postgres(stranger);
  ASSERT_FALSE(refused);
  const auto seen = ops::report_unreachable("db", refused.error());
  EXPECT_THAT(seen.findings.front().fix, HasSubstr("sluice db grant"));
}

}  // namespace
}  // namespace sluice::test
