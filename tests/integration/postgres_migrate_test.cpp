// Migrations: many at once, killed midway, too new, and the schema that results.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

std::unique_ptr<store::Store> open_unchecked(const PostgresDatabase& database) {
  store::PostgresOptions options;
  options.dsn = database.url();
  options.check_schema = false;
  auto opened = store::open_postgres(options);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(opened).value();
}

TEST(PostgresMigrate, IsIdempotent) {
  const PostgresDatabase database{PostgresDatabase::Schema::none};
  const auto store = open_unchecked(database);
  const auto first = store->migrate();
  ASSERT_TRUE(first) << first.error().message;
  for (const store::MigrationStep& step : *first) EXPECT_TRUE(step.applied_now) << step.name;
  const auto second = store->migrate();
  ASSERT_TRUE(second) << second.error().message;
  for (const store::MigrationStep& step : *second) EXPECT_FALSE(step.applied_now) << step.name;
  const auto version = store->schema_version();
  ASSERT_TRUE(version);
  EXPECT_EQ(version->applied, version->known);
}

// Everything up to the functions that publish, with events in it.
TEST(PostgresMigrate, ASchemaThatIsThereInPartIsCompletedWithItsEvents) {
  const PostgresDatabase database{PostgresDatabase::Schema::none};
  SqlSession session{database.url()};
  std::ifstream ledger{std::string{SLUICE_SOURCE_DIR} + "/src/store/postgres/sql/admin/migration_table.sql"};
  std::stringstream ledger_text;
  ledger_text << ledger.rdbuf();
  for (const store::MigrationText& migration : store::postgres_migrations()) {
    if (migration.version > 3) break;
    session.must(migration.sql);
    if (migration.version == 1) session.must(ledger_text.str());
    session.must("insert into core.sluice_migrations (version, name, checksum) values (" +
                 std::to_string(migration.version) + ", '" + migration.name + "', md5($text$" + migration.sql +
                 "$text$))");
  }
  session.must("select core.outbox_publish('tests.fresh', '{\"n\": 7}', p_idempotency_key => 'k-7')");
  session.must("select core.outbox_publish('tests.delayed', p_retry_after => now() + interval '1 hour')");
  session.must("select core.outbox_publish('tests.due', p_retry_after => now())");

  const auto store = open_unchecked(database);
  const auto steps = store->migrate();
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_FALSE(steps->at(2).applied_now);
  EXPECT_TRUE(steps->at(3).applied_now);
  const auto findings = store->validate();
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_TRUE(findings->empty()) << findings->front();
  store::ClaimRequest request;
  request.worker = "w:1";
  const auto claimed = store->claim(request);
  ASSERT_TRUE(claimed) << claimed.error().message;
  std::set<std::string> types;
  for (const auto& event : *claimed) {
    types.insert(event.envelope.event_type());
    if (event.envelope.event_type() != "tests.fresh") continue;
    EXPECT_EQ(event.envelope.payload(), R"({"n": 7})");
    EXPECT_EQ(event.envelope.idempotency_key(), "k-7");
  }
  EXPECT_EQ(types, (std::set<std::string>{"tests.due", "tests.fresh"}));
  EXPECT_TRUE(store->next_due(1, {})->has_value());
}

TEST(PostgresMigrate, TwentyAtOnceApplyEachMigrationOnce) {
  const PostgresDatabase database{PostgresDatabase::Schema::none};
  std::array<std::string, 20> errors;
  std::array<int, 20> applied{};
  {
    std::vector<std::jthread> migrators;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      migrators.emplace_back([&, i] {
        const auto steps = open_unchecked(database)->migrate();
        if (!steps) {
          errors[i] = steps.error().message;
          return;
        }
        for (const store::MigrationStep& step : *steps) applied[i] += step.applied_now ? 1 : 0;
      });
    }
  }
  int total = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EXPECT_EQ(errors[i], "") << "migrator " << i;
    total += applied[i];
  }
  const auto known = open_unchecked(database)->schema_version();
  ASSERT_TRUE(known);
  EXPECT_EQ(total, known->known);
}

// kill -9 of the migrating process while it holds the migrators' lock, at a later moment each round.
TEST(PostgresMigrate, GoesOnAfterBeingKilledMidway) {
  const PostgresDatabase database{PostgresDatabase::Schema::none};
  SqlSession watcher{database.url()};
  const auto migrating = [&] {
    return watcher
               .must(
                   "select count(*) from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid() "
                   "and database = (select oid from pg_database where datname = current_database())")
               .value() != "0";
  };
  int killed = 0;
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = open_unchecked(database);
      _exit(store->migrate() ? 0 : 1);
    }
    int status = 0;
    bool ended = false;
    while (!ended && !migrating()) ended = waitpid(child, &status, WNOHANG) == child;
    for (int trip = 0; trip < round; ++trip) watcher.must("select 1");
    if (!ended) {
      kill(child, SIGKILL);
      ASSERT_EQ(waitpid(child, &status, 0), child);
    }
    if (WIFSIGNALED(status)) ++killed;
    // The server notices the death when its statement ends; then the lock is free.
    watcher.must("select pg_advisory_lock(hashtextextended('sluice.migrate', 0))");
    watcher.must("select pg_advisory_unlock(hashtextextended('sluice.migrate', 0))");
    // The next round goes on where this one stopped; a round that got through starts over.
    if (!WIFSIGNALED(status)) watcher.must("drop schema core cascade");
  }
  EXPECT_GT(killed, 0) << "no round was killed while it migrated";
  const auto store = open_unchecked(database);
  const auto steps = store->migrate();
  ASSERT_TRUE(steps) << steps.error().message;
  const auto findings = store->validate();
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_TRUE(findings->empty()) << findings->front();
}

TEST(PostgresMigrate, RefusesASchemaThatIsTooNew) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  session.must("insert into core.sluice_migrations (version, name, checksum) values (9999, 'from the future', '')");
  const auto store = open_unchecked(database);
  const auto migrated = store->migrate();
  ASSERT_FALSE(migrated);
  EXPECT_EQ(migrated.error().code, ErrorCode::schema);
  EXPECT_NE(migrated.error().message.find("schema version 9999 is newer than this build knows"), std::string::npos)
      << migrated.error().message;
  EXPECT_EQ(migrated.error().hint, store::kNewerSchemaHint);

  store::PostgresOptions options;
  options.dsn = database.url();
  const auto opened = store::open_postgres(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::schema);
}

TEST(PostgresMigrate, RefusesToOpenWithoutASchema) {
  const PostgresDatabase database{PostgresDatabase::Schema::none};
  store::PostgresOptions options;
  options.dsn = database.url();
  const auto opened = store::open_postgres(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::schema);
  EXPECT_EQ(opened.error().hint, "run `sluice db migrate`");
}

TEST(PostgresMigrate, ValidateFindsWhatWasChangedByHand) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  const auto store = open_unchecked(database);
  const auto clean = store->validate();
  ASSERT_TRUE(clean) << clean.error().message;
  EXPECT_TRUE(clean->empty()) << clean->front();
  session.must("drop index core.outbox_waiting");
  session.must("alter table core.outbox disable trigger outbox_guard");
  session.must("create index by_hand on core.outbox (source) where status = 'pending'");
  session.must("update core.sluice_migrations set checksum = 'x' where version = 2");
  const auto findings = store->validate();
  ASSERT_TRUE(findings);
  std::string all;
  for (const std::string& finding : *findings) all += finding + "\n";
  EXPECT_NE(all.find("index core.outbox_waiting is missing"), std::string::npos) << all;
  EXPECT_NE(all.find("trigger outbox_guard"), std::string::npos) << all;
  EXPECT_NE(all.find("no longer HOT"), std::string::npos) << all;
  EXPECT_NE(all.find("migration 0002_rules was applied in another form"), std::string::npos) << all;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), size);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

// As pg_dump prints it. After a wanted change: UPDATE_GOLDEN=1 ./run test -R Golden
void expect_golden(const PostgresDatabase& database, const std::string& what, const std::string& name) {
  const std::string bin = std::getenv("SLUICE_TEST_POSTGRES_BIN");
  std::istringstream dump{
      output_of(bin + "/pg_dump --schema-only --no-owner --no-privileges " + what + " '" + database.url() + "'")};
  std::string schema;
  for (std::string line; std::getline(dump, line);) {
    if (line.empty() || line.starts_with("--") || line.starts_with("SET ") || line.starts_with("SELECT pg_catalog") ||
        line.starts_with("\\")) {
      continue;
    }
    schema += line + "\n";
  }
  const std::string path = SLUICE_SOURCE_DIR "/tests/golden/" + name;
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream{path} << schema;
  std::ifstream file{path};
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(schema, golden.str()) << "the schema changed; see the comment above this function";
}

TEST(PostgresMigrate, GoldenSchema) {
  const PostgresDatabase database;
  expect_golden(database, "--schema=core", "schema.postgres.sql");
}

TEST(PostgresMigrate, GoldenSchemaOfPartitions) {
  const PostgresDatabase database;
  store::PostgresOptions options;
  options.dsn = database.url();
  const auto store = store::open_postgres(options);
  ASSERT_TRUE(store);
  using Step = store::PartitionStep;
  for (const Step step : {Step::constrain, Step::validate, Step::prepare, Step::swap}) {
    const Timestamp year_2100{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};
    ASSERT_TRUE((*store)->take_partition_step({step, year_2100, 1}, {"tests", "tests", ""}));
  }
  expect_golden(database, "--table='core.outbox*'", "schema.partitions.sql");
}

}  // namespace
}  // namespace sluice::test
