#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Start = test::EmbeddedStore::Start;

class DoctorCommand : public testing::Test {
 protected:
  void subscribe() {
    const Subscription everything{.handler_name = "billing.meter"};
    sluice_.store.subscribe(1, {everything});
  }
  test::CommandLine sluice_;
};

TEST_F(DoctorCommand, AHealthyStoreListsWhatWasLookedAt) {
  const auto answer = sluice_({"doctor"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.out;
  EXPECT_THAT(answer.out, AllOf(StartsWith("ok\n  store: "), HasSubstr("  sqlite-file: "), HasSubstr("is sound"),
                                Not(HasSubstr("fix:"))));
  EXPECT_FALSE(sluice_.opened.back().create);
  EXPECT_FALSE(sluice_.opened.back().needs_schema) << "an older file is not migrated by looking at it";
  EXPECT_GT(sluice_.opened.back().longest_statement, Duration::zero());
}

TEST_F(DoctorCommand, WarningsExitWithFindingsAndBringTheirFix) {
  sluice_.store.publish(test::id_of(1));
  subscribe();
  const auto answer = sluice_({"doctor"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out,
              StartsWith("warning\n  generation-abandoned: generation 1 (no deployment) has 1 event left and "
                         "no live worker\n"));
  EXPECT_THAT(answer.out, AllOf(HasSubstr("      fix: start a worker with --generation 1"), HasSubstr("\n\nok\n")));
}

TEST_F(DoctorCommand, CriticalFindingsFail) {
  sluice_.store.bring_generation(1, GenerationState::draining);
  sluice_.store.publish(test::id_of(1));
  const auto answer = sluice_({"doctor", "-o", "json"});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.out, AllOf(HasSubstr(R"("severity":"critical","findings":[{"id":"generation-abandoned",)"),
                                HasSubstr(R"("fix":"start a worker with --generation 1)")));
  EXPECT_THAT(sluice_({"doctor", "-o", "ndjson"}).out, StartsWith(R"({"id":"generation-abandoned",)"));
}

TEST_F(DoctorCommand, AStoreThatIsAwayIsAFindingAndNoError) {
  sluice_.open_error = {ErrorCode::unavailable, Retry::safe, "the store is away", "store", "start it"};
  const auto answer = sluice_({"doctor"});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(
      answer.out,
      "critical\n  store-unreachable: the store is away\n      nothing else was looked at\n      fix: start it\n");
  sluice_.open_error = invalid("store", "no such thing");
  EXPECT_EQ(sluice_({"doctor"}).exit, Exit::usage) << "a wrong address is the caller's mistake";
}

TEST(DoctorCommandSchema, AMissingSchemaAndANewerOneAreCritical) {
  test::CommandLine sluice{Start::no_schema};
  EXPECT_THAT(sluice({"doctor"}).out, HasSubstr("schema-version: the schema is missing"));
  test::CommandLine newer;
  newer.store.add_future_migration();
  const auto answer = newer({"doctor"});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.out, HasSubstr("the schema is too new: version 999"));
}

/// Overwrites the first page of a table, as a disk that lies would.
void damage(const std::string& path, const std::string& table) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  int page = 0;
  const std::string query = "select rootpage from sqlite_schema where name = '" + table + "'";
  const auto read = [](void* into, int, char** columns, char**) {
    *static_cast<int*>(into) = std::stoi(columns[0]);
    return 0;
  };
  ASSERT_EQ(sqlite3_exec(database, query.c_str(), read, &page, nullptr), SQLITE_OK);
  sqlite3_close(database);
  ASSERT_GT(page, 1);
  constexpr std::size_t kPage = 4096;
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(static_cast<std::streamoff>(kPage) * (page - 1));
  file << std::string(kPage, '\x5a');
}

TEST_F(DoctorCommand, ADamagedCopyIsFound) {
  const std::string copy = sluice_.store.folder() + "/copy.db";
  sluice_.store.sql("vacuum into '" + copy + "'");
  damage(copy, "event_handled");
  const auto answer = sluice_({"doctor", "--store", "sqlite:" + copy});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.out, AllOf(StartsWith("critical\n  sqlite-corrupt: "), HasSubstr(".recover")));
}

TEST_F(DoctorCommand, AFileThatIsNoDatabaseIsFound) {
  const std::string path = sluice_.store.folder() + "/notes.db";
  std::ofstream{path} << std::string(4096, 'x');
  const auto answer = sluice_({"doctor", "--store", "sqlite:" + path});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.out, HasSubstr("sqlite-corrupt: " + path + " is not a SQLite database"));
}

TEST_F(DoctorCommand, ALogThatIsNotMovedIntoTheFileIsFound) {
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(sluice_.store.path().c_str(), &writer), SQLITE_OK);
  const auto run = [&](const char* statement) {
    ASSERT_EQ(sqlite3_exec(writer, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(writer);
  };
  run("pragma wal_autocheckpoint = 0");
  run("create table filler (data blob)");
  run("insert into filler values (zeroblob(65 * 1024 * 1024))");
  const auto answer = sluice_({"doctor"});
  sqlite3_close(writer);
  EXPECT_THAT(answer.out,
              AllOf(StartsWith("warning\n  sqlite-wal: the write-ahead log has "), HasSubstr("wal_checkpoint")));
}

TEST_F(DoctorCommand, AFileThatEverybodyMayChangeIsAWarning) {
  std::filesystem::permissions(sluice_.store.path(), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const auto answer = sluice_({"doctor"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out, HasSubstr("fix: chmod o-w "));
}

}  // namespace
}  // namespace sluice::cli
