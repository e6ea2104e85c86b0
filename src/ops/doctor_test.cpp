// Findings from invented facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ops/doctor_findings.hpp"
#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using test::kStart;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = store::XminHolder::Kind;

constexpr std::int64_t kMiB = 1024 * 1024;

/// Everything was looked at and is well.
DoctorFacts healthy_server() {
  DoctorFacts facts;
  facts.store = "postgres://db/app";
  facts.schema = {8, 8};
  facts.now = kStart;
  facts.clock_ahead = 3ms;
  facts.doorbell = store::DoorbellMode::always;
  facts.hearing = Hearing{true, ""};
  facts.survey = GenerationSurvey{};
  facts.survey->now = kStart;
  facts.survey->workers = {{.identity = "host-1", .listener = "listening", .seen_at = kStart}};
  facts.unsubscribed.emplace();
  facts.overdue.emplace();
  facts.dead_letters = DeadTally{};
  store::ServerFacts& server = facts.diagnosis.server.emplace();
  server.version = 150004;
  server.version_text = "15.4";
  server.user = "app";
  server.sees_all_sessions = true;
  server.grants = store::GrantFacts{.owner = true, .roles = {"sluice_reader"}};
  server.notify.emplace();
  server.xmin.emplace();
  server.outbox = store::TableFacts{.live_rows = 1000, .dead_rows = 100};
  server.locks.emplace();
  facts.diagnosis.expired.emplace();
  facts.diagnosis.retention.emplace();
  facts.diagnosis.stranded.emplace();
  return facts;
}

DoctorFacts healthy_file() {
  DoctorFacts facts;
  facts.store = "/data/sluice.db";
  facts.schema = {3, 3};
  facts.now = kStart;
  facts.diagnosis.file = store::FileFacts{.path = "/data/sluice.db",
                                          .bytes = kMiB,
                                          .journal_mode = "wal",
                                          .owner = "app",
                                          .permissions = 0644,
                                          .disk_free_bytes = 100 * 1024 * kMiB};
  return facts;
}

std::vector<Finding> all_of(const DoctorFacts& facts, FindingId id) {
  std::vector<Finding> found;
  for (const Finding& finding : findings_of(facts)) {
    if (finding.id == id) found.push_back(finding);
  }
  return found;
}

/// The one finding with this id, or one that says that there is none.
Finding the(const DoctorFacts& facts, FindingId id) {
  const auto found = all_of(facts, id);
  EXPECT_EQ(found.size(), 1U) << name(id);
  return found.empty() ? Finding{id, Severity::ok, "not found", "", ""} : found.front();
}

store::ServerSession dump(Duration age) {
  return {.pid = 4711,
          .application = "pg_dump",
          .user = "backup",
          .state = "idle in transaction",
          .transaction_age = age,
          .query = "select 1"};
}

TEST(Doctor, AHealthyServerIsAllOkAndSaysWhatWasLookedAt) {
  std::set<FindingId> looked;
  for (const Finding& finding : findings_of(healthy_server())) {
    EXPECT_EQ(finding.severity, Severity::ok) << finding.title;
    EXPECT_EQ(finding.fix, "") << finding.title;
    EXPECT_TRUE(looked.insert(finding.id).second) << finding.title;
  }
  EXPECT_GE(looked.size(), 14U);
}

TEST(Doctor, AHealthyFileIsAllOk) {
  for (const Finding& finding : findings_of(healthy_file())) EXPECT_EQ(finding.severity, Severity::ok) << finding.title;
}

TEST(Doctor, NamesAreKebabCaseAndUnique) {
  std::set<std::string_view> names;
  for (const std::string_view one : kFindingNames) {
    EXPECT_TRUE(names.insert(one).second) << one;
    EXPECT_EQ(one.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << one;
  }
  EXPECT_EQ(name(FindingId::xmin_pinned), "xmin-pinned");
  EXPECT_EQ(name(FindingId::sqlite_disk), kFindingNames.back());
}

TEST(Doctor, TheMostSevereComesFirst) {
  auto facts = healthy_server();
  facts.dead_letters = DeadTally{3, 3, false};
  facts.clock_ahead = 2s;
  facts.diagnosis.server->version = 140009;
  const auto findings = findings_of(facts);
  EXPECT_EQ(findings[0].id, FindingId::server_version);
  EXPECT_EQ(findings[1].id, FindingId::clock_skew);
  EXPECT_EQ(findings[2].id, FindingId::dead_letters);
  EXPECT_EQ((DoctorReport{"x", findings}.worst()), Severity::critical);
  EXPECT_EQ((DoctorReport{"x", {findings[2]}}.worst()), Severity::info);
}

TEST(DoctorServer, AnOldServerAndAStandbyAreCritical) {
  auto facts = healthy_server();
  facts.diagnosis.server->version = 140009;
  facts.diagnosis.server->version_text = "14.9";
  facts.diagnosis.server->standby = true;
  EXPECT_EQ(the(facts, FindingId::server_version).severity, Severity::critical);
  EXPECT_THAT(the(facts, FindingId::server_version).title, HasSubstr("14.9"));
  EXPECT_THAT(the(facts, FindingId::server_standby).fix, HasSubstr("primary"));
}

TEST(DoctorServer, AnotherSchemaIsCritical) {
  auto facts = healthy_server();
  facts.schema = {0, 8};
  EXPECT_EQ(the(facts, FindingId::schema_version).title, "the schema is missing");
  facts.schema = {7, 8};
  EXPECT_THAT(the(facts, FindingId::schema_version).title, HasSubstr("too old: version 7, this build knows 8"));
  EXPECT_EQ(the(facts, FindingId::schema_version).fix, "sluice db migrate");
  facts.schema = {9, 8};
  EXPECT_THAT(the(facts, FindingId::schema_version).title, HasSubstr("too new"));
  EXPECT_EQ(the(facts, FindingId::schema_version).severity, Severity::critical);
}

TEST(DoctorServer, ADamagedSchemaIsNamed) {
  auto facts = healthy_server();
  facts.schema_damage = {"index core.x mentions a column that every delivery changes"};
  EXPECT_EQ(the(facts, FindingId::schema_damaged).severity, Severity::warning);
  facts.schema_damage.emplace_back("table core.claims is missing");
  EXPECT_EQ(the(facts, FindingId::schema_damaged).severity, Severity::critical);
  EXPECT_THAT(the(facts, FindingId::schema_damaged).detail, HasSubstr("core.claims"));
}

TEST(DoctorServer, ASequenceThatIsNotAsTheScanNeedsItIsCriticalAndHasItsCure) {
  DoctorFacts facts = healthy_server();
  facts.schema_damage = {"sequence core.outbox_seq is behind: run `select setval('core.outbox_seq', 9)`"};
  const auto found = findings_of(facts).front();
  EXPECT_EQ(found.id, FindingId::outbox_sequence);
  EXPECT_EQ(found.severity, Severity::critical);
  EXPECT_EQ(found.title, "sequence core.outbox_seq is behind");
  EXPECT_EQ(found.fix, "select setval('core.outbox_seq', 9)");
  facts.schema_damage.emplace_back("index core.outbox_scan is missing or invalid");
  EXPECT_EQ(findings_of(facts)[0].id, FindingId::schema_damaged);
  EXPECT_EQ(findings_of(facts)[1].id, FindingId::outbox_sequence);
}

TEST(DoctorServer, MissingGrantsAreNamed) {
  auto facts = healthy_server();
  facts.diagnosis.server->grants->missing = {"sluice_worker: execute core.outbox_claim"};
  EXPECT_THAT(the(facts, FindingId::grants_missing).title, HasSubstr("sluice_worker: execute core.outbox_claim"));
  EXPECT_THAT(the(facts, FindingId::grants_missing).fix, HasSubstr("sluice db grant"));
  facts.diagnosis.server->grants = store::GrantFacts{.roles = {"sluice_reader"}};
  EXPECT_THAT(the(facts, FindingId::grants_missing).title, HasSubstr("user app neither owns the schema nor has"));
  facts.diagnosis.server->grants->memberships = {"sluice_reader"};
  EXPECT_EQ(the(facts, FindingId::grants_missing).severity, Severity::ok);
}

TEST(DoctorServer, WhatWasNotSeenIsSaid) {
  auto facts = healthy_server();
  facts.diagnosis.server->sees_all_sessions = false;
  facts.unseen = {{"expired claims", {ErrorCode::forbidden, Retry::never, "permission denied", "", "ask the owner"}},
                  {"dead letters", {ErrorCode::timeout, Retry::safe, "lock timeout", "", ""}}};
  const auto limited = all_of(facts, FindingId::sight_limited);
  ASSERT_EQ(limited.size(), 3U);
  EXPECT_EQ(limited[0].severity, Severity::warning);
  EXPECT_EQ(limited[0].title, "dead letters were not looked at: lock timeout");
  EXPECT_EQ(limited[1].severity, Severity::info);
  EXPECT_EQ(limited[1].fix, "ask the owner");
  EXPECT_THAT(limited[2].fix, HasSubstr("grant pg_read_all_stats to app"));
}

TEST(DoctorServer, ClocksMayDifferByASecond) {
  auto facts = healthy_server();
  facts.clock_ahead = -1s;
  EXPECT_EQ(the(facts, FindingId::clock_skew).severity, Severity::ok);
  facts.clock_ahead = -2s;
  EXPECT_EQ(the(facts, FindingId::clock_skew).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::clock_skew).title, HasSubstr("2s behind"));
  facts.clock_ahead = 31s;
  EXPECT_EQ(the(facts, FindingId::clock_skew).severity, Severity::critical);
  EXPECT_THAT(the(facts, FindingId::clock_skew).title, HasSubstr("31s ahead of"));
}

TEST(DoctorServer, ALockOnTheOutboxNamesItsHolder) {
  auto facts = healthy_server();
  facts.diagnosis.server->locks = store::LockFacts{{dump(2s)}, 4};
  EXPECT_EQ(the(facts, FindingId::outbox_locked).severity, Severity::ok) << "a migration takes a moment";
  facts.diagnosis.server->locks = store::LockFacts{{dump(40s)}, 0};
  EXPECT_EQ(the(facts, FindingId::outbox_locked).severity, Severity::warning);
  facts.diagnosis.server->locks->waiting = 4;
  const Finding finding = the(facts, FindingId::outbox_locked);
  EXPECT_EQ(finding.severity, Severity::critical);
  EXPECT_THAT(finding.title, AllOf(HasSubstr("pid 4711 (pg_dump, user backup"), HasSubstr("for 40s")));
  EXPECT_THAT(finding.fix, HasSubstr("select pg_terminate_backend(4711)"));
}

TEST(DoctorNotify, ADeafListenerNamesThePooler) {
  auto facts = healthy_server();
  facts.hearing = Hearing{false, ""};
  EXPECT_THAT(the(facts, FindingId::listener_deaf).title, Not(HasSubstr("pooler")));
  facts.hearing = Hearing{false, "a connection pooler stands between"};
  EXPECT_EQ(the(facts, FindingId::listener_deaf).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::listener_deaf).title, HasSubstr("a connection pooler stands between"));
  facts.hearing->heard = true;
  EXPECT_EQ(the(facts, FindingId::listener_deaf).severity, Severity::ok) << "session mode keeps LISTEN";
}

TEST(DoctorNotify, WorkersThatDoNotListenAreNamed) {
  auto facts = healthy_server();
  facts.survey->workers.push_back({.identity = "host-2", .generation = 4, .listener = "deaf"});
  const Finding finding = the(facts, FindingId::worker_not_listening);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(finding.title, "1 of 2 workers alive does not listen: host-2 (generation 4, deaf)");
}

TEST(DoctorNotify, CommitsThatQueueUpAskForAQuieterDoorbell) {
  auto facts = healthy_server();
  facts.diagnosis.server->notify->commits_waiting = 4;
  EXPECT_EQ(the(facts, FindingId::doorbell_contention).severity, Severity::ok);
  facts.diagnosis.server->notify->commits_waiting = 5;
  EXPECT_THAT(the(facts, FindingId::doorbell_contention).fix, HasSubstr("sluice db doorbell when-idle"));
  facts.doorbell = store::DoorbellMode::when_idle;
  EXPECT_THAT(the(facts, FindingId::doorbell_contention).fix, Not(HasSubstr("db doorbell")));
}

TEST(DoctorNotify, AFillingQueueNamesWhoMayHoldItBack) {
  auto facts = healthy_server();
  store::NotifyFacts& notify = *facts.diagnosis.server->notify;
  notify.suspects = {dump(2h), {.pid = 5, .user = "bob", .transaction_age = 1s}};
  notify.queue_usage = 0.249;
  EXPECT_EQ(the(facts, FindingId::notify_queue).severity, Severity::ok);
  notify.queue_usage = 0.25;
  const Finding finding = the(facts, FindingId::notify_queue);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_THAT(finding.title, AllOf(HasSubstr("25 % full"), HasSubstr("pid 4711"), HasSubstr("for 2h")));
  EXPECT_THAT(finding.detail, HasSubstr("pid 5 (user bob)"));
  EXPECT_THAT(finding.fix, HasSubstr("select pg_terminate_backend(4711)"));
  notify.queue_usage = 0.5;
  EXPECT_EQ(the(facts, FindingId::notify_queue).severity, Severity::critical);
  notify.suspects.clear();
  EXPECT_THAT(the(facts, FindingId::notify_queue).fix, HasSubstr("pg_stat_activity"));
}

TEST(DoctorVacuum, WhatPinsXminIsNamedByItsAge) {
  auto facts = healthy_server();
  auto& holders = *facts.diagnosis.server->xmin;
  holders = {{Kind::session, dump(10min - 1s), "", 5}};
  EXPECT_EQ(the(facts, FindingId::xmin_pinned).severity, Severity::ok);
  holders = {{Kind::session, dump(10min), "", 5}};
  const Finding finding = the(facts, FindingId::xmin_pinned);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(finding.title,
            "pid 4711 (pg_dump, user backup, idle in transaction) has pinned xmin for 10m, 5 transactions");
  EXPECT_THAT(finding.fix, HasSubstr("select pg_terminate_backend(4711)"));
  holders = {{Kind::session, dump(1h), "", 5}};
  EXPECT_EQ(the(facts, FindingId::xmin_pinned).severity, Severity::critical);
}

TEST(DoctorVacuum, PreparedTransactionsAndSlotsHaveTheirOwnCure) {
  auto facts = healthy_server();
  store::ServerSession forgotten{.user = "app", .state = "prepared", .transaction_age = 3h};
  store::ServerSession inactive{.state = "inactive"};
  facts.diagnosis.server->xmin = {
      {{Kind::prepared, forgotten, "it's me", 9}, {Kind::slot, inactive, "old", 2'000'000}}};
  const auto found = all_of(facts, FindingId::xmin_pinned);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].fix, HasSubstr("rollback prepared 'it''s me'"));
  EXPECT_EQ(found[1].severity, Severity::warning);
  EXPECT_THAT(found[1].title, HasSubstr("replication slot old (inactive) has pinned xmin for 2000000 transactions"));
  EXPECT_THAT(found[1].fix, HasSubstr("pg_drop_replication_slot('old')"));
}

TEST(DoctorVacuum, DeadRowsCountOnlyWhenTheyAreMany) {
  auto facts = healthy_server();
  facts.diagnosis.server->outbox = store::TableFacts{.live_rows = 10'000'000, .dead_rows = 1'000'000};
  EXPECT_EQ(the(facts, FindingId::dead_tuples).severity, Severity::ok) << "a tenth of the table";
  facts.diagnosis.server->outbox = store::TableFacts{.live_rows = 200'000, .dead_rows = 100'000};
  EXPECT_EQ(the(facts, FindingId::dead_tuples).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::dead_tuples).title, HasSubstr("never vacuumed"));
  facts.diagnosis.server->outbox->vacuumed_at = kStart - 3h;
  EXPECT_THAT(the(facts, FindingId::dead_tuples).title, HasSubstr("last vacuumed 3h ago"));
  facts.diagnosis.server->xmin = {{{Kind::session, dump(2h), "", 5}}};
  EXPECT_THAT(the(facts, FindingId::dead_tuples).fix, HasSubstr("end what pins xmin first"));
  facts.diagnosis.server->outbox->dead_rows = 5'000'000;
  EXPECT_EQ(the(facts, FindingId::dead_tuples).severity, Severity::critical);
}

TEST(DoctorDelivery, ExpiredClaimsWaitForAReaper) {
  auto facts = healthy_server();
  facts.diagnosis.expired = store::ExpiredFacts{3, kStart - 59s};
  EXPECT_EQ(the(facts, FindingId::claims_expired).severity, Severity::ok);
  facts.diagnosis.expired = store::ExpiredFacts{1, kStart - 1min};
  EXPECT_EQ(the(facts, FindingId::claims_expired).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::claims_expired).title, HasSubstr("1 event in flight"));
  facts.diagnosis.expired = store::ExpiredFacts{store::kExpiredLook, kStart - 10min};
  EXPECT_EQ(the(facts, FindingId::claims_expired).severity, Severity::critical);
  EXPECT_THAT(the(facts, FindingId::claims_expired).title, HasSubstr("at least 1000 events"));
}

TEST(DoctorDelivery, StrandedEventsAreCountedByCauseAndTheLatestIsNamed) {
  auto facts = healthy_server();
  EXPECT_EQ(the(facts, FindingId::stranded_events).severity, Severity::ok);
  const Uuid old = *Uuid::parse("01890000-0000-7000-8000-000000000001");
  const Uuid latest = *Uuid::parse("01890000-0000-7000-8000-000000000002");
  facts.diagnosis.stranded->causes = {{store::StrandedCause::passed_over, 270, latest, kStart - 1min},
                                      {store::StrandedCause::no_claim, 2, old, kStart - 1h}};
  const Finding finding = the(facts, FindingId::stranded_events);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_THAT(finding.title, HasSubstr("272 events"));
  EXPECT_THAT(finding.detail, HasSubstr("270 passed over"));
  EXPECT_THAT(finding.detail, HasSubstr("2 in flight without a claim"));
  EXPECT_THAT(finding.detail, HasSubstr("the latest is " + latest.to_string()));
  EXPECT_THAT(finding.fix, HasSubstr("sluice event show " + latest.to_string()));
}

TEST(DoctorDelivery, ASubscriptionWhoseDeclarerIsGoneIsNamed) {
  auto facts = healthy_server();
  const auto subscribed = [](const std::string& name, Duration ago, const std::string& by) {
    return store::SubscriptionRecord{{.handler_name = name}, 1, kStart - 24h, by, kStart - ago};
  };
  facts.subscriptions = {{subscribed("billing.meter", 59min, "serve:web1:/etc/sluice.toml")}};
  EXPECT_EQ(the(facts, FindingId::subscription_unserved).severity, Severity::ok);
  facts.subscriptions->push_back(subscribed("shop.mailer", 3h, "serve:web1:/etc/old.toml"));
  facts.subscriptions->push_back(subscribed("shop.other", 2h, "pull"));
  const Finding finding = the(facts, FindingId::subscription_unserved);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_THAT(finding.title, HasSubstr("shop.mailer for 3h"));
  EXPECT_THAT(finding.detail, HasSubstr("declared by serve:web1:/etc/old.toml"));
  EXPECT_THAT(finding.detail, HasSubstr("declared by workers that pull"));
  EXPECT_THAT(finding.detail, testing::Not(HasSubstr("billing.meter")));
  EXPECT_THAT(finding.fix, HasSubstr("sluice subscription remove shop.mailer --generation 1"));
  facts.survey = GenerationSurvey{};
  facts.survey->generations.push_back({});
  facts.survey->generations.back().generation = 1;
  facts.survey->generations.back().state = GenerationState::retired;
  EXPECT_EQ(the(facts, FindingId::subscription_unserved).severity, Severity::ok) << "nobody serves it on purpose";
}

TEST(DoctorDelivery, RetentionMayBeADayLate) {
  auto facts = healthy_server();
  const Timestamp due = kStart - facts.retention.outbox.active;
  facts.diagnosis.retention = store::RetentionFacts{due - 23h, std::nullopt};
  EXPECT_EQ(the(facts, FindingId::retention_lag).severity, Severity::ok);
  facts.diagnosis.retention = store::RetentionFacts{due - 72h, std::nullopt};
  EXPECT_EQ(the(facts, FindingId::retention_lag).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::retention_lag).title, HasSubstr("finished events are kept 3d longer than the 45d"));
  facts.diagnosis.retention = store::RetentionFacts{std::nullopt, kStart - facts.retention.outbox.grace - 48h};
  EXPECT_THAT(the(facts, FindingId::retention_lag).title, HasSubstr("tombstones are kept 2d longer than the 7d"));
}

TEST(DoctorDelivery, AnAbandonedGenerationIsAnAlarmWhenItDrains) {
  auto facts = healthy_server();
  facts.survey->generations = {{.generation = 3, .state = GenerationState::draining, .pending = 7, .in_flight = 1},
                               {.generation = 4, .pending = 1},
                               {.generation = 5, .state = GenerationState::live, .pending = 9, .workers = 1}};
  const auto found = all_of(facts, FindingId::generation_abandoned);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::critical);
  EXPECT_EQ(found[0].title, "generation 3 (draining) has 8 events left and no live worker");
  EXPECT_THAT(found[0].fix, HasSubstr("sluice generation reroute 3"));
  EXPECT_EQ(found[1].severity, Severity::warning);
  EXPECT_THAT(found[1].title, HasSubstr("generation 4 (no deployment) has 1 event left"));
}

TEST(DoctorDelivery, AGenerationThatDoesNotExistIsNamed) {
  auto facts = healthy_server();
  facts.survey->generations = {{.generation = 999, .pending = 1}};
  facts.missing_generations = {999};
  const auto found = the(facts, FindingId::generation_abandoned);
  EXPECT_EQ(found.severity, Severity::critical);
  EXPECT_EQ(found.title, "generation 999 does not exist and has 1 event");
  EXPECT_THAT(found.fix, HasSubstr("sluice generation reroute 999"));
}

TEST(DoctorDelivery, EventsThatNobodyWantsAreNewsOnlyAfterAWhile) {
  auto facts = healthy_server();
  facts.unsubscribed = {{{1, "order.placed", "billing", 12, kStart - 59s}}};
  EXPECT_EQ(the(facts, FindingId::events_unsubscribed).severity, Severity::info);
  facts.unsubscribed->front().oldest = kStart - 1min;
  EXPECT_EQ(the(facts, FindingId::events_unsubscribed).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::events_unsubscribed).title,
              HasSubstr("12 × order.placed → billing in generation 1"));
}

TEST(DoctorDelivery, AnEventThatLiveWorkersLeaveAloneIsNamedWithTheReason) {
  DoctorFacts facts = healthy_server();
  facts.overdue = {{{.id = test::id_of(1), .event_type = "a.b", .due = kStart - 7min, .handler_name = "x.y"}}};
  const auto late = findings_of(facts).front();
  EXPECT_EQ(late.id, FindingId::events_overdue);
  EXPECT_EQ(late.severity, Severity::warning);
  EXPECT_EQ(late.title, "event " + test::id_of(1).to_string() +
                            " (a.b) has been due for 7m and is not delivered, though a live worker runs x.y: its "
                            "workers have not come to it");
  EXPECT_THAT(late.detail, HasSubstr("since " + to_iso8601(kStart - 7min)));
  EXPECT_THAT(late.fix, HasSubstr("sluice event show " + test::id_of(1).to_string()));
  facts.overdue->push_back(facts.overdue->front());
  facts.overdue->back().id = test::id_of(2);
  facts.overdue->back().cause = store::OverdueEvent::Cause::passed_over;
  const auto passed = findings_of(facts).front();
  EXPECT_EQ(passed.severity, Severity::critical);
  EXPECT_THAT(passed.title, AllOf(HasSubstr(test::id_of(2).to_string()), HasSubstr("has passed it")));
}

TEST(DoctorDelivery, DeadLettersAreOnlyMentioned) {
  auto facts = healthy_server();
  EXPECT_THAT(all_of(facts, FindingId::dead_letters), IsEmpty());
  facts.dead_letters = DeadTally{1, 1, false};
  EXPECT_EQ(the(facts, FindingId::dead_letters).severity, Severity::info);
  EXPECT_EQ(the(facts, FindingId::dead_letters).title, "1 dead letter needs review");
  facts.dead_letters = DeadTally{kDeadLook, kDeadLook, true};
  EXPECT_THAT(the(facts, FindingId::dead_letters).title, HasSubstr("at least 10000 dead letters need review"));
}

TEST(DoctorDelivery, AcknowledgedDeadLettersNeedNobody) {
  auto facts = healthy_server();
  facts.dead_letters = DeadTally{5, 1, false};
  EXPECT_EQ(the(facts, FindingId::dead_letters).title, "1 dead letter needs review");
  EXPECT_EQ(the(facts, FindingId::dead_letters).detail, "5 dead letters, 4 acknowledged");
  facts.dead_letters = DeadTally{5, 0, false};
  EXPECT_THAT(all_of(facts, FindingId::dead_letters), IsEmpty());
}

TEST(DoctorFile, DamageIsCritical) {
  auto facts = healthy_file();
  facts.diagnosis.file->damage = {"Tree 4 page 7: btreeInitPage() returns error code 11"};
  const Finding finding = the(facts, FindingId::sqlite_corrupt);
  EXPECT_EQ(finding.severity, Severity::critical);
  EXPECT_THAT(finding.title, HasSubstr("Tree 4 page 7"));
  EXPECT_THAT(finding.fix, HasSubstr("sqlite3 /data/sluice.db .recover"));
}

TEST(DoctorFile, ALogThatGrowsAndADiskThatEnds) {
  auto facts = healthy_file();
  facts.diagnosis.file->wal_bytes = 64 * kMiB - 1;
  EXPECT_EQ(the(facts, FindingId::sqlite_wal).severity, Severity::ok);
  facts.diagnosis.file->wal_bytes = 64 * kMiB;
  EXPECT_EQ(the(facts, FindingId::sqlite_wal).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::sqlite_wal).title, HasSubstr("64 MiB"));
  facts.diagnosis.file->disk_free_bytes = 512 * kMiB - 1;
  EXPECT_EQ(the(facts, FindingId::sqlite_disk).severity, Severity::warning);
  facts.diagnosis.file->disk_free_bytes = 64 * kMiB - 1;
  EXPECT_EQ(the(facts, FindingId::sqlite_disk).severity, Severity::critical);
}

TEST(DoctorFile, AFileThatEverybodyMayChangeIsAWarning) {
  auto facts = healthy_file();
  facts.diagnosis.file->permissions = 0666;
  EXPECT_EQ(the(facts, FindingId::sqlite_permissions).severity, Severity::warning);
  EXPECT_THAT(the(facts, FindingId::sqlite_permissions).detail, HasSubstr("0666, owner app"));
  EXPECT_EQ(the(facts, FindingId::sqlite_permissions).fix, "chmod o-w /data/sluice.db");
}

TEST(Doctor, AStoreThatCannotBeOpenedIsAFinding) {
  const auto cause = [](ErrorCode code) {
    return report_unreachable("db", {code, Retry::safe, "it is away", "store", "start it"}).findings.front();
  };
  EXPECT_EQ(cause(ErrorCode::unavailable).id, FindingId::store_unreachable);
  EXPECT_EQ(cause(ErrorCode::unavailable).severity, Severity::critical);
  EXPECT_EQ(cause(ErrorCode::unavailable).title, "it is away");
  EXPECT_EQ(cause(ErrorCode::unavailable).fix, "start it");
  EXPECT_EQ(cause(ErrorCode::corrupt).id, FindingId::sqlite_corrupt);
  EXPECT_EQ(cause(ErrorCode::read_only).id, FindingId::sqlite_not_writable);
  EXPECT_THAT(report_unreachable("db", {ErrorCode::forbidden, Retry::never, "no", "", ""}).findings.front().fix,
              HasSubstr("SLUICE_STORE"));
}

TEST(Doctor, TheJsonFieldsArePinned) {
  EXPECT_EQ(to_json(DoctorReport{"db", {{FindingId::sqlite_wal, Severity::warning, "large", "why", "cut it"}}}),
            R"({"store":"db","severity":"warning","findings":[{"id":"sqlite-wal","severity":"warning",)"
            R"("title":"large","detail":"why","fix":"cut it"}]})");
}

}  // namespace
}  // namespace sluice::ops
