// What a user who speaks SQL cannot do: store what nobody could read, change tombstones unseen, sweep sooner than the
// database keeps. Tried as the owner and as a real login.
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/json.hpp"
#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

constexpr const char* kRefused = "payload must be at most 262144 bytes with its numbers written out";

std::string many_times(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string array_of(const std::string& number, int count) {
  return R"({"a":[)" + many_times(number + ",", count - 1) + number + "]}";
}

class PostgresBounds : public testing::Test {
 protected:
  SqlSession::Answer insert(const std::string& payload) {
    return session.run(
        "insert into core.outbox (event_type, source, generation, payload) values ('a.b', 'worlds', 1, '" + payload +
        "')");
  }
  std::string failed() {
    return session
        .must(
            "insert into core.outbox (event_type, source, generation, payload, status) values ('a.b', 'worlds', 1, "
            "'{}', "
            "'failed') returning id")
        .value();
  }
  std::string count(const std::string& table) { return session.must("select count(*) from core." + table).value(); }

  PostgresDatabase database;
  SqlSession session{database.url()};
};

TEST_F(PostgresBounds, NumbersThatBecomeTooManyDigitsAreRefusedByAPlainInsert) {
  for (const std::string& bomb : {array_of("1e99999", 20'000), array_of("1e99999", 3), array_of("1e-16000", 17),
                                  R"({"text":")" + std::string(300'000, 'x') + "\"}"}) {
    const auto answer = insert(bomb);
    EXPECT_EQ(answer.sqlstate, "23514");
    EXPECT_NE(answer.error.find(kRefused), std::string::npos) << answer.error.substr(0, 200);
  }
  EXPECT_EQ(count("outbox"), "0");
  EXPECT_TRUE(insert(array_of("1e99999", 2)).ok());
  EXPECT_EQ(session.run("update core.outbox set payload = '" + array_of("1e99999", 20'000) + "'").sqlstate, "23514");
}

// Repeated numbers compress well: a row of another table hands over a few bytes.
TEST_F(PostgresBounds, WhatIsCompressedElsewhereIsMeasuredAsItIs) {
  session.must("create table staged (payload jsonb); insert into staged values ('" + array_of("1e99999", 20'000) +
               "')");
  EXPECT_EQ(session.must("select pg_column_size(payload) < 8000 from staged").value(), "t");
  for (const char* sql :
       {"insert into core.outbox (event_type, source, generation, payload) select 'a.b', 'worlds', 1, "
        "payload from staged",
        "select core.outbox_publish('a.b', payload) from staged"}) {
    const auto answer = session.run(sql);
    EXPECT_NE(answer.error.find("must be at most 262144 bytes with its numbers written out"), std::string::npos)
        << answer.error.substr(0, 200);
  }
}

TEST_F(PostgresBounds, AnOwnerMayLowerTheLimitOfPublish) {
  session.must("update core.settings set value = '100' where key = 'payload_max_bytes'");
  EXPECT_EQ(session.run("select core.outbox_publish('a.b', '" + array_of("1e200", 1) + "')").sqlstate, "SL422");
  EXPECT_TRUE(session.run("select core.outbox_publish('a.b', '" + array_of("1e20", 1) + "')").ok());
}

TEST_F(PostgresBounds, NumbersThatBecomeTooManyDigitsAreRefusedByPublish) {
  const auto answer = session.run("select core.outbox_publish('a.b', '" + array_of("1e99999", 20'000) + "')");
  EXPECT_EQ(answer.sqlstate, "SL422");
  EXPECT_EQ(answer.error,
            "p_payload: must be at most 262144 bytes with its numbers written out (core.settings, "
            "payload_max_bytes)");
}

// One size on every surface: what the library counts before it sends is what the database counts.
TEST_F(PostgresBounds, TheDatabaseCountsWhatTheLibraryCounts) {
  const std::vector<std::string> samples{
      array_of("1", 9'000),
      array_of("1.50e3", 3'000),
      array_of("-1e-7", 2'000),
      array_of("1e9000", 1),
      array_of(R"({"k":[],"m":{},"n":[1,{"z":null}]})", 500),
      array_of(R"("\u00e9\n\u0007\"/\ud83d\ude00")", 900),
      R"({"text":")" + std::string(9'000, 'x') + R"(","b":false})",
  };
  for (const std::string& sample : samples) {
    std::size_t bytes = 8'000;
    while (!json::check(sample, "payload", {.stored_bytes = bytes})) ++bytes;
    session.must("update core.settings set value = '" + std::to_string(bytes) + "' where key = 'payload_max_bytes'");
    EXPECT_TRUE(insert(sample).ok()) << sample.substr(0, 60);
    session.must("update core.settings set value = '" + std::to_string(bytes - 1) +
                 "' where key = 'payload_max_bytes'");
    EXPECT_EQ(insert(sample).sqlstate, "23514") << sample.substr(0, 60);
  }
}

TEST_F(PostgresBounds, WhatTheLibraryRefusesJsonbWouldRefuseToo) {
  for (const char* number : {"1e131072", "1e-16384", "0e-16384", "1e99999999999"}) {
    EXPECT_FALSE(json::check(number, "payload", {.stored_bytes = 1'000'000})) << number;
    EXPECT_FALSE(session.run("select '" + std::string{number} + "'::jsonb").ok()) << number;
  }
  for (const char* number : {"1e131071", "1e-16383", "0e99999"}) {
    EXPECT_TRUE(json::check(number, "payload", {.stored_bytes = 1'000'000})) << number;
    session.must("select '" + std::string{number} + "'::jsonb");
  }
}

TEST_F(PostgresBounds, PublishNamesTheArgument) {
  const std::vector<std::pair<std::string, std::string>> calls{
      {"p_event_version => 0", "p_event_version: expected 1 or more, got 0"},
      {"p_event_version => null", "p_event_version: expected 1 or more, got null"},
      {"p_idempotency_key => ''", "p_idempotency_key: expected 1 to 255 bytes, got 0"},
      {"p_ordering_key => repeat('k', 256)", "p_ordering_key: expected 1 to 255 bytes, got 256"},
      {"p_content_class => null", "p_content_class: expected a name, got null"},
      {"p_generation => 999",
       "p_generation: generation 999 does not exist; allocate it with `sluice generation allocate 999`, or publish to "
       "generation 1"},
  };
  for (const auto& [argument, says] : calls) {
    const auto answer = session.run("select core.outbox_publish('a.b', " + argument + ")");
    EXPECT_EQ(answer.sqlstate, "SL422") << argument;
    EXPECT_EQ(answer.error, says);
  }
  EXPECT_EQ(count("outbox"), "0");
}

TEST_F(PostgresBounds, NoSettingOfAUsersOwnSwitchesTheAuditOff) {
  const std::string id = failed();
  session.must("set sluice.audited = 'on'");
  session.must("update core.outbox set deleted_at = now() where id = '" + id + "'");
  EXPECT_EQ(count("audit"), "1");
  session.must("update core.outbox set deleted_at = null where id = '" + id + "'");
  EXPECT_EQ(count("audit"), "2");
  session.must("begin; select core.outbox_discard('" + id +
               "', 'a test'); update core.outbox set deleted_at = null; commit");
  EXPECT_EQ(session.must("select string_agg(action || ' ' || actor, ', ' order by id) from core.audit").value(),
            "discard sql-direct, restore sql-direct, discard sql-direct, restore sql-direct");
  EXPECT_EQ(count("audited"), "0");
}

TEST_F(PostgresBounds, ATombstoneIsOfNow) {
  const std::string id = failed();
  for (const char* time :
       {"now() - interval '8 days'", "now() - interval '1 microsecond'", "now() + interval '1 day'"}) {
    const auto answer = session.run("update core.outbox set deleted_at = " + std::string{time});
    EXPECT_EQ(answer.sqlstate, "SL409") << time;
    EXPECT_NE(answer.error.find("deleted_at must be now()"), std::string::npos) << answer.error;
  }
  session.must("update core.outbox set deleted_at = now()");
  EXPECT_EQ(session.run("update core.outbox set deleted_at = deleted_at - interval '8 days'").sqlstate, "SL409");
  EXPECT_EQ(count("audit"), "1");
}

// An event from before a rule, or past it, is settled and replayed like any other.
TEST_F(PostgresBounds, WhatCameInBeforeARuleCanStillBeMoved) {
  session.must(
      "set session_replication_role = replica; insert into core.outbox (event_type, source, generation, "
      "idempotency_key, "
      "payload, channel) values ('with a space', 'worlds', 1, 'k', ('{\"a\":[' || repeat('1e99999,', 20000) || "
      "'1]}')::jsonb, "
      "'outbox_gen_1'); set session_replication_role = origin");
  session.must("update core.outbox set status = 'in_flight', claim_seq = 1");
  session.must("update core.outbox set status = 'failed', attempts = 1, last_error = 'PayloadError: x'");
  session.must("select core.outbox_replay(id, 2, 'alice') from core.outbox");
}

TEST_F(PostgresBounds, TheInequalityHoldsForTheOwnerToo) {
  const auto sweep = [&](const std::string& times) {
    return session.run("select * from core.outbox_sweep(" + times + ", 10, false)");
  };
  EXPECT_EQ(sweep("'2 days', '1 day', '3 days', '0'").sqlstate, "SL422");
  EXPECT_EQ(sweep("'0', '1 day', '3 days', '0'").sqlstate, "SL422");
  EXPECT_EQ(sweep("'2 days', '-1 day', '3 days', '0'").sqlstate, "SL422");
  EXPECT_EQ(sweep("null, '1 day', '3 days', '0'").sqlstate, "SL422");
  EXPECT_EQ(sweep("'2 days', '1 day', null, '0'").sqlstate, "SL422");
  EXPECT_EQ(session.run("select * from core.outbox_sweep('2 s', '1 s', '4 s', '0', 0, false)").sqlstate, "SL422");
  EXPECT_TRUE(sweep("'2 seconds', '1 second', '4 seconds', '0'").ok()) << "the schema is theirs";
}

TEST_F(PostgresBounds, WorkersAndOperatorsCannotSweepSooner) {
  store::PostgresOptions options;
  options.dsn = database.url();
  const auto owner = store::open_postgres(options).value();
  failed();
  session.must(
      "set session_replication_role = replica; update core.outbox set published_at = now() - interval '10 days', "
      "failed_at = now() - interval '10 days'; set session_replication_role = origin");
  for (const auto& [grant, suffix] :
       {std::pair{store::Grant::worker, "sweeping_worker"}, std::pair{store::Grant::op, "sweeping_operator"}}) {
    const std::string login = "t" + std::to_string(getpid()) + "_" + suffix;
    session.must("create role " + login + " login password 'pw'");
    ASSERT_TRUE(owner->grant(grant, login));
    SqlSession user{database.url(login, "pw")};
    for (const char* times : {"'1 day', '0', '2 days', '0'", "'45 days', '0', '60 days', '7 days'",
                              "'45 days', '7 days', '60 days', '0'", "'1 microsecond', '0', '2 microseconds', '0'"}) {
      for (const char* dry_run : {"false", "true"}) {
        const auto refused =
            user.run(std::string{"select * from core.outbox_sweep("} + times + ", 10, " + dry_run + ")");
        EXPECT_EQ(refused.sqlstate, "SL403") << times;
        EXPECT_NE(refused.error.find("only the owner of the schema may shorten it"), std::string::npos)
            << refused.error;
      }
    }
    user.must("select * from core.outbox_sweep('45 days', '7 days', '60 days', '7 days', 10, false)");
    user.must("select * from core.outbox_sweep('90 days', '7 days', '100 days', '7 days', 10, false)");
    EXPECT_EQ(user.run("update core.settings set value = '1 day' where key = 'retention_outbox_active'").sqlstate,
              "42501");
    EXPECT_EQ(user.run("insert into core.audited values (1)").sqlstate, "42501");
    SqlSession admin{database.url()};
    admin.must("set role " + login);
    EXPECT_EQ(admin.run("select * from core.outbox_sweep('1 day', '0', '2 days', '0', 10, false)").sqlstate, "SL403");
  }
  EXPECT_EQ(count("outbox"), "1");
  session.must("update core.settings set value = '9 days' where key = 'retention_outbox_active'");
  SqlSession user{database.url("t" + std::to_string(getpid()) + "_sweeping_worker", "pw")};
  user.must("select * from core.outbox_sweep('9 days', '7 days', '60 days', '7 days', 10, false)");
  EXPECT_EQ(session.must("select action || ' ' || count from core.audit where action = 'retention.sweep'").value(),
            "retention.sweep 1");
  SqlSession admin{database.url()};
  for (const char* suffix : {"sweeping_worker", "sweeping_operator"}) {
    admin.must("drop role t" + std::to_string(getpid()) + "_" + suffix);
  }
}

}  // namespace
}  // namespace sluice::test
