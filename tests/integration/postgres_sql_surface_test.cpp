// What somebody with nothing but psql sees: plain inserts, NOTIFY, core.outbox_publish, refusals.
#include <gtest/gtest.h>

#include <thread>

#include "core/status.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

class PostgresSqlSurface : public testing::Test {
 protected:
  std::string insert(const std::string& columns = {}, const std::string& values = {}) {
    return "insert into core.outbox (event_type, source, generation, payload" + columns +
           ") values ('a.b', 'worlds', 1, '{\"n\": 1}'" + values + ") returning id";
  }
  PostgresDatabase database;
  SqlSession session{database.url()};
};

TEST_F(PostgresSqlSurface, PlainInsertRingsTheChannelWithTheRowId) {
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  const std::string id = session.must(insert(", channel", ", 'outbox_gen_1'")).value();
  const auto notification = listener.wait_notification();
  ASSERT_TRUE(notification);
  EXPECT_EQ(notification->channel, "outbox_gen_1");
  EXPECT_EQ(notification->payload, id);
}

// Whoever has published it takes a notification that names it for the echo of the publish, and wakes nobody.
TEST_F(PostgresSqlSurface, AReplayRingsTheChannelAndNamesNoEvent) {
  const std::string id = session.must(insert(", status", ", 'failed'")).value();
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  session.must("select core.outbox_replay('" + id + "', 1, 'alice')");
  const auto notification = listener.wait_notification();
  ASSERT_TRUE(notification);
  EXPECT_EQ(notification->payload, "");
}

// Two reports of the same events, each with the other one handled, would else wait for each other.
TEST_F(PostgresSqlSurface, AReportLocksItsEventsInTheOrderOfTheirIds) {
  const auto add = [&](const std::string& id) {
    session.must(insert(", id, status, claimed_by", ", '" + id + "', 'delivered', 'host/relay:nats/0'"));
  };
  const std::string first = "00000000-0000-7000-8000-000000000001";
  const std::string second = "00000000-0000-7000-8000-000000000002";
  add(first);
  add(second);
  SqlSession holder{database.url()};
  holder.must("begin; select from core.outbox where id = '" + first + "' for update");
  SqlSession reporter{database.url()};
  const std::jthread reporting{[&] {
    reporter.must(
        "select core.relay_report_recorded(array['" + first + "', '" + second +
        "']::uuid[], '{0,0}', '{a.b,a.b}', '{k1,k2}', '{true,false}', '{false,false}', '{0,1}', '{\"\",e}', "
        "'{\"\",E}', '{\"\",f}', array['{}', '{\"handler\": \"a.b\"}']::jsonb[], array[null, null]::jsonb[])");
  }};
  const auto waits = [&] {
    return session
               .must(
                   "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = "
                   "'Lock'")
               .value() == "1";
  };
  while (!waits()) continue;
  EXPECT_EQ(session.run("select from core.outbox where id = '" + second + "' for update nowait").sqlstate, "");
  holder.must("commit");
}

TEST_F(PostgresSqlSurface, DefaultsFillTheRest) {
  const std::string id = session.must(insert()).value();
  const auto row = session.must(
      "select event_version, target, content_class, channel, workspace_id, idempotency_key, status, attempts, "
      "failure_history, claim_seq, "
      "occurred_at = published_at, substr(id::text, 15, 1) from core.outbox");
  const auto& cells = row.rows.at(0);
  EXPECT_EQ(cells[0], "1");
  EXPECT_EQ(cells[1], std::nullopt);
  EXPECT_EQ(cells[2], "default");
  EXPECT_EQ(cells[3], "outbox_gen_1") << "nobody listens to the placeholder";
  EXPECT_EQ(cells[4], std::nullopt);
  EXPECT_EQ(cells[5], id);
  EXPECT_EQ(cells[6], "pending");
  EXPECT_EQ(cells[7], "0");
  EXPECT_EQ(cells[8], "[]");
  EXPECT_EQ(cells[9], "0");
  EXPECT_EQ(cells[10], "t");
  EXPECT_EQ(cells[11], "7") << "a version 7 uuid";
}

struct Refusal {
  const char* columns;
  const char* values;
  const char* says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.says; }

class PostgresRefusals : public PostgresSqlSurface, public testing::WithParamInterface<Refusal> {};

TEST_P(PostgresRefusals, NamesTheRule) {
  const auto answer = session.run(insert(GetParam().columns, GetParam().values));
  EXPECT_NE(answer.error.find(GetParam().says), std::string::npos) << answer.error;
  EXPECT_EQ(session.must("select count(*) from core.outbox").value(), "0");
}

INSTANTIATE_TEST_SUITE_P(Inserts, PostgresRefusals,
                         testing::Values(Refusal{", status", ", 'done'", "status must be"},
                                         Refusal{", channel", ", repeat('c', 64)", "channel must have 1 to 63 bytes"},
                                         Refusal{", target", ", 'Not A Context'", "target must be a context name"},
                                         Refusal{", event_version", ", 0", "event_version must be at least 1"},
                                         Refusal{", attempts", ", -1", "attempts must not be negative"},
                                         Refusal{", ordering_key", ", ''", "ordering_key must have 1 to 255 bytes"},
                                         Refusal{", failure_history", ", '{}'",
                                                 "failure_history must be a JSON array"}),
                         [](const auto& refusal) {
                           const std::string_view says = refusal.param.says;
                           return std::string{says.substr(0, says.find(' '))};
                         });

TEST_F(PostgresSqlSurface, PayloadMustBeAnObject) {
  const auto answer =
      session.run("insert into core.outbox (event_type, source, generation, payload) values ('a', 'worlds', 1, '[1]')");
  EXPECT_NE(answer.error.find("payload must be a JSON object"), std::string::npos) << answer.error;
}

TEST_F(PostgresSqlSurface, PendingToDeliveredIsRefusedWithASentence) {
  session.must(insert());
  const auto answer = session.run("update core.outbox set status = 'delivered'");
  EXPECT_NE(answer.error.find("illegal transition pending -> delivered"), std::string::npos) << answer.error;
}

TEST_F(PostgresSqlSurface, OnlyTheEdgeTablesTransitionsHappen) {
  for (const Status from : kStatuses) {
    for (const Status to : kStatuses) {
      if (from == to) continue;
      session.must("delete from core.outbox");
      session.must(insert(", status, claimed_by", ", '" + std::string{name(from)} + "', 'host/relay:nats/0'"));
      const auto answer = session.run(
          "update core.outbox set status = '" + std::string{name(to)} +
          "', claim_seq = claim_seq + 1, retry_after = now(), failure_history = failure_history || '[{}]'::jsonb");
      EXPECT_EQ(answer.ok(), is_legal(from, to)) << name(from) << " -> " << name(to) << ": " << answer.error;
    }
  }
}

TEST_F(PostgresSqlSurface, FailedReturnsToPendingOnlyByReplay) {
  session.must(insert(", status", ", 'failed'"));
  const auto answer = session.run("update core.outbox set status = 'pending', retry_after = now()");
  EXPECT_NE(answer.error.find("only by core.outbox_replay"), std::string::npos) << answer.error;
}

TEST_F(PostgresSqlSurface, TheFencingTokenNeverFalls) {
  session.must(insert(", claim_seq", ", 3"));
  EXPECT_FALSE(session.run("update core.outbox set claim_seq = 2").ok());
}

TEST_F(PostgresSqlSurface, AuditIsAppendOnly) {
  session.must("insert into core.audit (actor, surface, action) values ('a', 'sql', 'x')");
  EXPECT_EQ(session.run("update core.audit set actor = 'b'").error, "core.audit is append-only");
  EXPECT_EQ(session.run("delete from core.audit").error, "core.audit is append-only");
  EXPECT_EQ(session.run("truncate core.audit").error, "core.audit is append-only");
}

TEST_F(PostgresSqlSurface, PublishFunctionStampsGenerationAndChannel) {
  session.must("insert into core.deployments (generation, state) values (3, 'live'), (4, 'allocated')");
  const std::string id =
      session.must("select core.outbox_publish('scan.completed', '{\"n\": 12345678901234567890.5}')").value();
  const auto row = session.must(
      "select generation, channel, idempotency_key, payload ->> 'n' from core.outbox where id = '" + id + "'");
  const auto& cells = row.rows.at(0);
  EXPECT_EQ(cells[0], "3");
  EXPECT_EQ(cells[1], "outbox_gen_3");
  EXPECT_EQ(cells[2], id);
  EXPECT_EQ(cells[3], "12345678901234567890.5");
}

TEST_F(PostgresSqlSurface, PublishFunctionJoinsTheCallersTransactionAndRepeatsSafely) {
  session.must("begin; select core.outbox_publish('a.b'); rollback");
  EXPECT_EQ(session.must("select count(*) from core.outbox").value(), "0");
  for (int i = 0; i < 2; ++i) {
    session.must(
        "select core.outbox_publish('a.b', p_event_id => '01890000-0000-7000-8000-000000000001', p_class => 'hot')");
  }
  EXPECT_EQ(session.must("select count(*) from core.outbox").value(), "1");
  EXPECT_EQ(session.must("select channel from core.outbox").value(), "outbox_gen_1_hot");
}

TEST_F(PostgresSqlSurface, PublishFunctionNamesTheBadArgument) {
  const auto says = [&](const std::string& arguments, const std::string& expected) {
    const auto answer = session.run("select core.outbox_publish(" + arguments + ")");
    EXPECT_EQ(answer.sqlstate, "SL422") << arguments;
    EXPECT_TRUE(answer.error.starts_with(expected)) << answer.error;
  };
  says("null", "p_event_type:");
  says("'no spaces please'", "p_event_type:");
  says("'a', '[]'", "p_payload:");
  says("'a', p_source => 'Bad'", "p_source:");
  says("'a', p_target => 'Bad'", "p_target:");
  says("'a', p_generation => 0", "p_generation:");
  says("'a', p_channel => 'x; drop table core.outbox'", "p_channel:");
  says("'a', p_trace_context => '00-00000000000000000000000000000000-0000000000000001-01'", "p_trace_context:");
  says("'a', jsonb_build_object('x', repeat('y', 300000))", "p_payload:");
  EXPECT_EQ(session.must("select count(*) from core.outbox").value(), "0");
}

TEST_F(PostgresSqlSurface, TheNotifyFunctionIsFrozen) {
  // core.outbox_notify() never changes; publishers choose the channel.
  EXPECT_EQ(session.must("select prosrc from pg_proc where oid = 'core.outbox_notify()'::regprocedure").value(),
            "\nbegin\n    perform pg_notify(NEW.channel, NEW.id::text);\n    return null;\nend\n");
}

}  // namespace
}  // namespace sluice::test
