// The binary against a real PostgreSQL: what an operator types, in the order of a first day.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "store/postgres/postgres_store.hpp"
#include "tests/cli/process.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Schema = PostgresDatabase::Schema;

constexpr const char* kId = "0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e";

std::string known_version() { return std::to_string(store::postgres_migrations().back().version); }

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// A database of its own, and a home directory whose SLUICE_STORE names it.
class PostgresCli : public testing::Test {
 protected:
  explicit PostgresCli(Schema schema = Schema::migrated) : database_(schema) {
    home_.environment["SLUICE_STORE"] = database_.url();
  }
  Finished sluice(const std::vector<std::string>& words, const std::string& input = "") {
    return home_.sluice(words, input);
  }
  std::string sql(const std::string& statement) const { return SqlSession{database_.url()}.must(statement).value(); }

  PostgresDatabase database_;
  Home home_;
};

class PostgresCliWithoutSchema : public PostgresCli {
 protected:
  PostgresCliWithoutSchema() : PostgresCli(Schema::none) {}
};

TEST_F(PostgresCliWithoutSchema, MigratesOnceAndSaysWhatItDid) {
  const auto version = sluice({"db", "version"});
  EXPECT_EQ(version.exit, 0) << version.err;
  EXPECT_EQ(version.out, "0\n");
  EXPECT_THAT(version.err, HasSubstr("run `sluice db migrate`"));

  const auto plan = sluice({"db", "migrate", "--dry-run"});
  EXPECT_EQ(plan.exit, 0) << plan.err;
  for (const auto& migration : store::postgres_migrations()) EXPECT_THAT(plan.out, HasSubstr(migration.name));
  EXPECT_THAT(plan.out, HasSubstr("would be"));
  EXPECT_EQ(sluice({"db", "version"}).out, "0\n") << "a dry run changes nothing";

  const auto first = sluice({"db", "migrate"});
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("now"), Not(HasSubstr("before"))));
  const auto second = sluice({"db", "migrate"});
  EXPECT_EQ(second.exit, 0) << second.err;
  EXPECT_THAT(second.out, AllOf(HasSubstr("before"), Not(HasSubstr("now"))));

  EXPECT_EQ(sluice({"db", "version"}).out, known_version() + "\n");
  EXPECT_EQ(sluice({"db", "version", "-o", "json"}).out,
            R"({"applied":)" + known_version() + R"(,"known":)" + known_version() + "}\n");
  const auto valid = sluice({"db", "validate"});
  EXPECT_EQ(valid.exit, 0) << valid.out;
  EXPECT_THAT(valid.err, HasSubstr("as this build expects it"));
}

TEST_F(PostgresCliWithoutSchema, ValidateFindsThatItIsMissing) {
  const auto answer = sluice({"db", "validate"});
  EXPECT_EQ(answer.exit, 6) << answer.err;
  EXPECT_EQ(answer.out, "the schema is missing: run `sluice db migrate`\n");
}

TEST_F(PostgresCli, APlanOfASchemaThatIsThereInPartIsTheRest) {
  const auto migrations = store::postgres_migrations();
  ASSERT_GE(migrations.size(), 3U);
  sql("delete from core.sluice_migrations where version > 1");
  const auto plan = sluice({"db", "migrate", "--dry-run"});
  EXPECT_EQ(plan.exit, 0) << plan.err;
  EXPECT_THAT(plan.out, Not(HasSubstr(migrations[0].name)));
  EXPECT_THAT(plan.out, AllOf(HasSubstr(migrations[1].name), HasSubstr(migrations.back().name)));
  EXPECT_THAT(sluice({"db", "migrate", "--dry-run", "-o", "json"}).out,
              AllOf(HasSubstr(R"("dry_run":true)"), HasSubstr(R"("applied_now":false)")));
  const auto version = sluice({"db", "version"});
  EXPECT_EQ(version.out, "1\n");
  EXPECT_THAT(version.err, HasSubstr("run `sluice db migrate`"));
}

TEST_F(PostgresCli, ValidateExitsWithFindings) {
  sql("drop index core.outbox_waiting");
  const auto answer = sluice({"db", "validate"});
  EXPECT_EQ(answer.exit, 6) << answer.err;
  EXPECT_EQ(answer.out, "index core.outbox_waiting is missing or invalid\n");
  EXPECT_EQ(sluice({"db", "validate", "-o", "json"}).out,
            "{\"findings\":[\"index core.outbox_waiting is missing or invalid\"]}\n");
  EXPECT_EQ(sluice({"db", "validate", "-o", "ndjson"}).out,
            "{\"finding\":\"index core.outbox_waiting is missing or invalid\"}\n");
}

TEST_F(PostgresCliWithoutSchema, SqlPrintsWhatPsqlCanRun) {
  const auto printed = sluice({"db", "sql", "--store", "postgres://"});
  EXPECT_EQ(printed.exit, 0) << printed.err;
  EXPECT_EQ(printed.err, "");
  for (const auto& migration : store::postgres_migrations()) {
    EXPECT_THAT(printed.out, AllOf(HasSubstr("-- " + migration.name + ".sql\n"), HasSubstr(migration.sql)));
  }
  sql(printed.out);
  EXPECT_EQ(sql("select to_regclass('core.outbox') is not null"), "t");
}

TEST_F(PostgresCli, PublishListShow) {
  const auto published = sluice(
      {"publish", "demo.hello", "--id", kId, "--key", "customer-7", "--data", R"({"n": 12345678901234567890123})"});
  ASSERT_EQ(published.exit, 0) << published.err;
  EXPECT_EQ(published.out, std::string{kId} + "\n");
  EXPECT_EQ(sql("select status || ' ' || ordering_key from core.outbox"), "pending customer-7");

  const auto again = sluice({"publish", "demo.hello", "--id", kId});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("published before"));
  ASSERT_EQ(sluice({"publish", "demo.second"}).exit, 0);

  EXPECT_THAT(sluice({"event", "list"}).out, AllOf(HasSubstr(kId), HasSubstr("demo.second"), HasSubstr("pending")));
  const auto page = sluice({"event", "list", "--limit", "1", "-o", "ndjson"});
  EXPECT_EQ(lines(page.out), 1);
  EXPECT_THAT(page.out, HasSubstr("demo.second"));
  EXPECT_THAT(page.err, HasSubstr("more events follow: --cursor "));
  const auto typed = sluice({"event", "list", "--type", "demo.hello", "-o", "ndjson"});
  EXPECT_EQ(lines(typed.out), 1);
  EXPECT_THAT(typed.out, HasSubstr(kId));

  const auto shown = sluice({"event", "show", kId});
  EXPECT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(StartsWith("demo.hello " + std::string{kId} + " is pending"), HasSubstr("customer-7"),
                               HasSubstr("12345678901234567890123"), HasSubstr("published")));
  EXPECT_EQ(sluice({"event", "show", "0196b2f1-7c1e-7a3b-9d2e-000000000000"}).exit, 3);
}

TEST_F(PostgresCli, AFailedEventTellsItsStory) {
  ASSERT_EQ(sluice({"publish", "demo.hello", "--id", kId}).exit, 0);
  const auto store = store::open_postgres({.dsn = database_.url(), .sweep_interval = {}});
  ASSERT_TRUE(store) << store.error().message;
  const auto claimed = (*store)->claim({.worker = "worker-1", .interests = {}, .handlers = {}});
  ASSERT_TRUE(claimed) << claimed.error().message;
  ASSERT_EQ(claimed->size(), 1U);
  store::SettleItem item;
  item.claim = claimed->front().claim;
  item.settlement = settle(0, Outcome::failed({"PayloadError", "no such customer", {}, true}), RetryPolicy{}, 0.0);
  ASSERT_EQ((*store)->settle(std::span{&item, 1})->settled, 1);

  const auto shown = sluice({"event", "show", kId});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("is failed"), HasSubstr("PayloadError: no such customer")));
  EXPECT_THAT(sluice({"event", "list", "--status", "failed", "-o", "ndjson"}).out, HasSubstr(kId));
  EXPECT_THAT(sluice({"status", "-o", "json"}).out, AllOf(HasSubstr(R"("failed":1)"), HasSubstr(R"("pending":0)")));
}

TEST_F(PostgresCli, GenerationsRouteWhatIsPublished) {
  EXPECT_THAT(sluice({"generation", "list"}).err, HasSubstr("no generation is allocated"));
  const auto planned = sluice({"generation", "allocate", "--dry-run"});
  EXPECT_EQ(planned.out, "1\n");
  EXPECT_EQ(sql("select count(*) from core.deployments"), "0");
  EXPECT_EQ(sluice({"generation", "allocate", "7", "--note", "release", "--reason", "rollout"}).out, "7\n");
  EXPECT_EQ(sluice({"generation", "allocate", "7"}).exit, 5);
  EXPECT_EQ(sluice({"generation", "activate", "8"}).exit, 3);
  const auto activated = sluice({"generation", "activate", "7", "--as", "bob"});
  EXPECT_EQ(activated.exit, 0) << activated.err;
  EXPECT_THAT(sluice({"generation", "list"}).out, AllOf(HasSubstr("live"), HasSubstr("bob"), HasSubstr("release")));
  EXPECT_EQ(sql("select string_agg(actor || ' ' || surface, ', ' order by id) from core.audit where actor = 'bob'"),
            "bob cli");
  EXPECT_THAT(sluice({"publish", "demo.hello", "-o", "json"}).out,
              AllOf(HasSubstr(R"("generation":7)"), HasSubstr(R"("channel":"outbox_gen_7")")));
}

TEST_F(PostgresCli, StatusCountsAndHidesThePassword) {
  ASSERT_EQ(sluice({"publish", "demo.hello"}).exit, 0);
  ASSERT_EQ(sluice({"publish", "demo.later", "--after", "2h"}).exit, 0);
  const auto table = sluice({"status"});
  EXPECT_EQ(table.exit, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr(database_.name()), HasSubstr("GENERATION"), HasSubstr("***"),
                               Not(HasSubstr("sluice:sluice@"))));
  EXPECT_THAT(sluice({"status", "-o", "json"}).out, AllOf(HasSubstr(R"("pending":2)"), HasSubstr(R"("waiting":1)")));
}

/// A login role of this process, gone with the test.
class PostgresCliGrants : public PostgresCli {
 protected:
  PostgresCliGrants() { sql("create role " + member_ + " login password 'pw'"); }
  ~PostgresCliGrants() override { sql("drop role " + member_); }
  Finished as_member(std::vector<std::string> words) {
    words.insert(words.end(), {"--store", database_.url(member_, "pw")});
    return sluice(words);
  }
  std::string roles_of_member() const {
    return sql(
        "select coalesce(string_agg(r.rolname, ','), '') from pg_auth_members m join pg_roles r on r.oid = m.roleid "
        "where m.member = '" +
        member_ + "'::regrole");
  }
  std::string member_ = "cli_" + std::to_string(getpid());
};

TEST_F(PostgresCliGrants, GiveARoleExactlyWhatItNeeds) {
  EXPECT_EQ(as_member({"event", "list"}).exit, 4) << "nothing is granted yet";

  const auto planned = sluice({"db", "grant", "--dry-run", "reader", member_});
  EXPECT_EQ(planned.exit, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("would make " + member_ + " a member of sluice_reader"));
  EXPECT_EQ(roles_of_member(), "") << "a dry run grants nothing";

  const auto roles = sluice({"db", "grant"});
  EXPECT_EQ(roles.exit, 0) << roles.err;
  EXPECT_THAT(roles.out, AllOf(HasSubstr("sluice_publisher may publish\n"), HasSubstr("sluice_reader may read\n")));
  EXPECT_EQ(roles_of_member(), "");

  const auto granted = sluice({"db", "grant", "reader", member_});
  EXPECT_EQ(granted.exit, 0) << granted.err;
  EXPECT_THAT(granted.out, HasSubstr(member_ + " is a member of sluice_reader\n"));
  EXPECT_EQ(roles_of_member(), "sluice_reader");

  const auto read = as_member({"event", "list"});
  EXPECT_EQ(read.exit, 0) << read.err;
  const auto written = as_member({"publish", "demo.hello"});
  EXPECT_EQ(written.exit, 4) << written.err;
  EXPECT_EQ(written.out, "");
  EXPECT_EQ(sql("select count(*) from core.outbox"), "0");
}

TEST_F(PostgresCliGrants, AnOperatorEndsAGeneration) {
  ASSERT_EQ(sluice({"db", "grant", "operator", member_}).exit, 0);
  ASSERT_EQ(sluice({"publish", "demo.hello", "--generation", "1"}).exit, 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"generation", "allocate", "1"},
        {"generation", "activate", "1"},
        {"generation", "allocate", "2"},
        {"generation", "drain", "1"},
        {"status"},
        {"worker", "list"},
        {"generation", "reroute", "1", "--to", "2", "--reason", "late", "--yes"},
        {"generation", "retire", "1"},
        {"subscription", "list"},
        {"retention", "sweep"},
        {"db", "doorbell"}}) {
    const auto done = as_member(words);
    EXPECT_EQ(done.exit, 0) << words[0] << ' ' << words.back() << ": " << done.err;
  }
  EXPECT_EQ(as_member({"db", "doorbell", "when-idle"}).exit, 4) << "the trigger belongs to the owner of the table";
}

TEST_F(PostgresCliGrants, AnOpenPublisherKeepsTheGateShutForAnOperator) {
  ASSERT_EQ(sluice({"db", "grant", "operator", member_}).exit, 0);
  ASSERT_EQ(sluice({"generation", "allocate", "1"}).exit, 0);
  ASSERT_EQ(sluice({"generation", "activate", "1"}).exit, 0);
  SqlSession publisher{database_.url()};
  const std::string pid = publisher.must("select pg_backend_pid()").value();
  publisher.must("begin");
  publisher.must("select core.outbox_publish('demo.hello')");
  ASSERT_EQ(as_member({"generation", "drain", "1"}).exit, 0);
  const auto check = as_member({"generation", "retire", "1", "--check"});
  EXPECT_EQ(check.exit, 6) << check.err;
  EXPECT_THAT(check.out, HasSubstr("may still publish into it: pid " + pid + " (user sluice) since 20"));
  const auto refused = as_member({"generation", "retire", "1"});
  EXPECT_EQ(refused.exit, 5);
  EXPECT_THAT(refused.err, HasSubstr("pg_terminate_backend(" + pid + ")"));
  EXPECT_EQ(as_member({"generation", "retire", "1", "--force"}).exit, 5);
  publisher.must("commit");
  EXPECT_THAT(as_member({"generation", "retire", "1", "--check"}).out, HasSubstr("1 event pending"));
}

TEST_F(PostgresCliGrants, AsJson) {
  EXPECT_THAT(sluice({"db", "grant", "worker", member_, "-o", "json"}).out,
              AllOf(StartsWith(R"({"dry_run":false,"done":[")"), HasSubstr(member_ + " is a member of sluice_worker")));
}

TEST_F(PostgresCli, MakesAndDropsTheIndexOfPayloads) {
  const auto plan = sluice({"db", "index", "payload", "--dry-run"});
  EXPECT_EQ(plan.exit, 0) << plan.err;
  EXPECT_EQ(plan.out, "create index concurrently outbox_payload on core.outbox using gin (payload jsonb_path_ops);\n");
  ASSERT_EQ(sluice({"publish", "demo.hello", "--data", R"({"order_id":4711})"}).exit, 0);
  const auto unbounded = sluice({"event", "list", "--filter", "data.order_id:4711"});
  EXPECT_EQ(unbounded.exit, 2);
  EXPECT_THAT(unbounded.err, AllOf(HasSubstr("add since:24h"), HasSubstr("sluice db index payload")));
  const auto made = sluice({"db", "index", "payload", "--reason", "orders are looked for", "-o", "json"});
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr(R"("index":"payload","drop":false)"));
  EXPECT_THAT(sluice({"db", "index", "payload"}).err, HasSubstr("is there already"));
  EXPECT_THAT(sluice({"event", "list", "--filter", "data.order_id:4711", "-o", "json"}).out, HasSubstr("demo.hello"));
  EXPECT_EQ(sluice({"db", "validate"}).exit, 0);
  EXPECT_THAT(sluice({"db", "index", "payload", "--drop"}).err, HasSubstr("is gone"));
  EXPECT_EQ(sql("select count(*) from core.audit where action like 'index.%'"), "2");
}

TEST_F(PostgresCli, PartitionsAndShowsTheMonths) {
  const auto plan = sluice({"ladder", "partition", "--dry-run"});
  EXPECT_EQ(plan.exit, 0) << plan.err;
  EXPECT_THAT(plan.out,
              AllOf(StartsWith("-- constrain\nbegin;\n"), HasSubstr("attach partition core.outbox_default default;")));
  const auto done = sluice({"ladder", "partition", "--reason", "five million rows", "-o", "json"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.err, AllOf(HasSubstr("1/4"), HasSubstr("4/4")));
  EXPECT_THAT(done.out, HasSubstr(R"("steps":["constrain","validate","prepare","swap"])"));
  EXPECT_THAT(sluice({"ladder", "partition"}).err, HasSubstr("partitioned already"));
  EXPECT_EQ(lines(sluice({"retention", "show"}).out), 8) << "two policies, a head, the past, three months, the default";
  EXPECT_EQ(sluice({"ladder", "partition", "--abandon"}).exit, 5);
  EXPECT_EQ(sluice({"db", "validate"}).exit, 0);
  EXPECT_EQ(sluice({"retention", "sweep"}).exit, 0);
  EXPECT_EQ(sql("select count(*) from core.audit where reason = 'five million rows'"), "4");
}

}  // namespace
}  // namespace sluice::test
