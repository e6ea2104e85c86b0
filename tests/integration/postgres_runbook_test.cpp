// The operator's runbook, statement by statement, as printed (tests/data/runbook.sql).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

// Statements are separated by blank lines.
std::vector<std::string> runbook() {
  std::ifstream file{SLUICE_SOURCE_DIR "/tests/data/runbook.sql"};
  std::vector<std::string> statements(1);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) {
      statements.emplace_back();
    } else {
      statements.back() += line + "\n";
    }
  }
  return statements;
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

constexpr std::string_view kFail =
    "update core.outbox set status = 'in_flight', claim_seq = claim_seq + 1, claimed_at = now(), claimed_by = 'w' "
    "where status = 'pending';"
    "update core.outbox set status = 'failed', attempts = 5, last_error = 'TimeoutError: upstream', first_failed_at = "
    "now()"
    " where status = 'in_flight'";

class RunbookOver : public testing::TestWithParam<PostgresDatabase::Schema> {};

INSTANTIATE_TEST_SUITE_P(PostgresRunbook, RunbookOver,
                         testing::Values(PostgresDatabase::Schema::migrated, PostgresDatabase::Schema::partitioned),
                         [](const auto& param) { return param.index == 0 ? "one_table" : "partitions"; });

TEST_P(RunbookOver, EveryStatementRunsAsPrinted) {
  const PostgresDatabase database{GetParam()};
  SqlSession session{database.url()};
  const std::vector<std::string> statements = runbook();
  ASSERT_EQ(statements.size(), 12U);
  session.must("insert into core.deployments (generation, state) values (7, 'live')");
  for (const std::string& statement : statements) {
    // A failed event for each, because replay and discard use it up.
    const std::string id = session
                               .must(
                                   "insert into core.outbox (event_type, source, generation, payload) values ('a.b', "
                                   "'worlds', 1, '{}') returning id")
                               .value();
    session.must(kFail);
    const SqlSession::Answer answer =
        session.run(replaced(replaced(statement, "<event-id>", id), "<current-generation>", "7"));
    EXPECT_TRUE(answer.ok()) << answer.error << "\n" << statement;
  }
}

TEST_P(RunbookOver, GroupsByErrorClassAndCountsReplays) {
  const PostgresDatabase database{GetParam()};
  SqlSession session{database.url()};
  session.must(
      "insert into core.outbox (event_type, source, generation, payload) select 'a.b', 'worlds', 1, '{}' from "
      "generate_series(1, 3)");
  session.must(kFail);
  const std::vector<std::string> statements = runbook();
  const auto groups = session.must(statements[3]);
  ASSERT_EQ(groups.rows.size(), 1U);
  EXPECT_EQ(groups.rows[0][0], "TimeoutError");
  EXPECT_EQ(groups.rows[0][1], "3");
  session.must("select core.outbox_replay(id, 2, null) from core.outbox order by id limit 1");
  session.must(kFail);
  const auto list = session.must(statements[0]);
  ASSERT_EQ(list.rows.size(), 3U);
  EXPECT_EQ(list.rows[0].back(), "1") << "the replayed one failed last and comes first";
  EXPECT_EQ(list.rows[1].back(), "0");
}

TEST(PostgresRunbook, DiscardByUpdateIsAuditedAsSqlDirect) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  session.must("insert into core.outbox (event_type, source, generation, payload) values ('a.b', 'worlds', 1, '{}')");
  session.must(kFail);
  session.must("update core.outbox set deleted_at = now() where status = 'failed'");
  const auto audit =
      session.must("select actor, surface, action, event_id = (select id from core.outbox) from core.audit");
  ASSERT_EQ(audit.rows.size(), 1U);
  EXPECT_EQ(audit.rows[0][0], "sql-direct");
  EXPECT_EQ(audit.rows[0][1], "sql");
  EXPECT_EQ(audit.rows[0][2], "discard");
  EXPECT_EQ(audit.rows[0][3], "t");
}

TEST(PostgresReplay, WritesTheHistoryEntryAndResetsTheCycle) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  const std::string id =
      session
          .must(
              "insert into core.outbox (event_type, source, generation, channel, payload, idempotency_key) values "
              "('a.b', 'worlds', 1, 'outbox_gen_1', '{}', 'order-7') returning id")
          .value();
  session.must(kFail);
  const auto before = session.must("select claimed_at, first_failed_at from core.outbox");
  const auto did = session.must("select core.outbox_replay(p_event_id => '" + id +
                                "', p_new_generation => 4, p_replayed_by => 'alice')");
  EXPECT_NE(did.value().find("\"cycle\": 1"), std::string::npos) << did.value();

  const auto row = session.must(
      "select status, attempts, last_error, first_failed_at, generation, claimed_at, claimed_by, id, idempotency_key, "
      "claim_seq, channel, "
      "jsonb_array_length(failure_history) from core.outbox");
  const auto& cells = row.rows.at(0);
  EXPECT_EQ(cells[0], "pending");
  EXPECT_EQ(cells[1], "0");
  EXPECT_EQ(cells[2], std::nullopt);
  EXPECT_EQ(cells[3], std::nullopt);
  EXPECT_EQ(cells[4], "4");
  EXPECT_EQ(cells[5], std::nullopt);
  EXPECT_EQ(cells[6], std::nullopt);
  EXPECT_EQ(cells[7], id);
  EXPECT_EQ(cells[8], "order-7");
  EXPECT_EQ(cells[9], "1") << "the fencing token is never reset";
  EXPECT_EQ(cells[10], "outbox_gen_4") << "the channel follows the generation";
  EXPECT_EQ(cells[11], "1");

  const auto entry = session.must(
      "select e ->> 'cycle', e ->> 'attempts', e ->> 'last_error', (e ->> 'first_failed_at')::timestamptz, "
      "(e ->> 'failed_at')::timestamptz, (e ->> 'replayed_at')::timestamptz <= now(), e ->> 'replayed_by', "
      "e ?& array['cycle','attempts','last_error','first_failed_at','failed_at','replayed_at','replayed_by'] "
      "from core.outbox, jsonb_array_elements(failure_history) e");
  const auto& history = entry.rows.at(0);
  EXPECT_EQ(history[0], "1");
  EXPECT_EQ(history[1], "5");
  EXPECT_EQ(history[2], "TimeoutError: upstream");
  EXPECT_EQ(history[3], before.rows[0][1]);
  EXPECT_EQ(history[4], before.rows[0][0]);
  EXPECT_EQ(history[5], "t");
  EXPECT_EQ(history[6], "alice");
  EXPECT_EQ(history[7], "t");
}

TEST(PostgresReplay, RefusesAnythingButAFailedEvent) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  session.must("insert into core.outbox (event_type, source, generation, payload) values ('a.b', 'worlds', 1, '{}')");
  const auto pending = session.run("select core.outbox_replay(id, 1, 'x') from core.outbox");
  EXPECT_EQ(pending.sqlstate, "SL409");
  EXPECT_NE(pending.error.find("is pending, only a failed event can be replayed"), std::string::npos) << pending.error;
  EXPECT_EQ(session.run("select core.outbox_replay(core.uuid_v7(), 1, 'x')").sqlstate, "SL404");
  session.must(kFail);
  EXPECT_EQ(session.run("select core.outbox_replay(id, null, 'x') from core.outbox").sqlstate, "SL422");
}

}  // namespace
}  // namespace sluice::test
