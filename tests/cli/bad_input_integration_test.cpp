// Each kind of bad input: one clear sentence, the right exit code, nothing half-written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "tests/cli/process.hpp"
#include "tests/support/closed_port.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(BadInput, MalformedJsonWritesNothing) {
  Home home;
  const auto answer = home.sluice({"publish", "demo.hello", "--data", "{\"n\":\n oops}"});
  EXPECT_EQ(answer.exit, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: --data: "), HasSubstr("line 2, column 2")));
  EXPECT_THAT(home.files(), IsEmpty());
}

TEST(BadInput, UnknownFlagAndCommand) {
  Home home;
  const auto flag = home.sluice({"publish", "demo.hello", "--dta", "{}"});
  EXPECT_EQ(flag.exit, 2);
  EXPECT_THAT(flag.err, HasSubstr("did you mean --data?"));
  const auto command = home.sluice({"pubish"});
  EXPECT_EQ(command.exit, 2);
  EXPECT_THAT(command.err, HasSubstr("did you mean publish?"));
}

TEST(BadInput, UnreachablePostgresKeepsThePasswordSecret) {
  Home home;
  const ClosedPort closed;
  const std::string store = "postgres://app:s3cret@127.0.0.1:" + closed.number() + "/app";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"publish", "demo.hello"}, {"status"}, {"db", "migrate"}, {"serve"}}) {
    auto line = words;
    line.insert(line.end(), {"--store", store, "-v"});
    const auto answer = home.sluice(line);
    EXPECT_EQ(answer.exit, 10) << words.front() << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(HasSubstr("127.0.0.1"), Not(HasSubstr("s3cret"))));
  }
}

TEST(BadInput, AStoreThatIsNoStore) {
  Home home;
  home.environment["SLUICE_STORE"] = "mysql://root:s3cret@db/app";
  const auto answer = home.sluice({"status"});
  EXPECT_EQ(answer.exit, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("SLUICE_STORE"), HasSubstr("sqlite:PATH"), Not(HasSubstr("s3cret"))));
}

TEST(BadInput, AFileThatIsNoDatabase) {
  Home home;
  home.write("notes.txt", std::string(4096, 'x'));
  const auto answer = home.sluice({"publish", "demo.hello", "--store", "sqlite:notes.txt"});
  EXPECT_EQ(answer.exit, 1) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("notes.txt"));
}

TEST(BadInput, AFolderThatCannotBeMade) {
  Home home;
  home.write("blocked", "a file where a folder is wanted");
  const auto answer = home.sluice({"publish", "demo.hello", "--store", "sqlite:blocked/sub/sluice.db"});
  EXPECT_NE(answer.exit, 0);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: "), HasSubstr("blocked/sub/sluice.db")));
}

// Permissions that bind, also when the test runs as root.
class ReadOnlyFolder {
 public:
  explicit ReadOnlyFolder(Home& home) : home_(home) {
    home_.as_nobody = true;
    for (const auto& name : home_.files()) restrict(home_.path(name), fs::perms{0444});
    restrict(home_.path(""), fs::perms{0555});
  }
  ~ReadOnlyFolder() { fs::permissions(home_.path(""), fs::perms{0755}); }
  ReadOnlyFolder(const ReadOnlyFolder&) = delete;
  ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;

 private:
  static void restrict(const std::string& path, fs::perms permissions) { fs::permissions(path, permissions); }
  Home& home_;
};

TEST(BadInput, AReadOnlyFile) {
  Home home;
  ASSERT_EQ(home.sluice({"publish", "demo.hello", "--store", "sqlite:a.db"}).exit, 0);
  const ReadOnlyFolder locked{home};
  const auto answer = home.sluice({"publish", "demo.hello", "--store", "sqlite:a.db"});
  if (answer.exit == 127) GTEST_SKIP() << "the binary stands where only root may run it";
  EXPECT_EQ(answer.exit, 1) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: "), HasSubstr("a.db")));
  const auto doctor = home.sluice({"doctor", "--store", "sqlite:a.db"});
  EXPECT_EQ(doctor.exit, 1) << doctor.err;
  EXPECT_THAT(doctor.out, StartsWith("critical\n  sqlite-not-writable: "));
}

TEST(BadInput, AFolderThatCannotBeWritten) {
  Home home;
  const ReadOnlyFolder locked{home};
  const auto answer = home.sluice({"publish", "demo.hello"});
  if (answer.exit == 127) GTEST_SKIP() << "the binary stands where only root may run it";
  EXPECT_NE(answer.exit, 0);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: "), HasSubstr(".local/share/sluice")));
}

TEST(BadInput, ASchemaThatIsTooNew) {
  Home home;
  ASSERT_EQ(home.sluice({"db", "migrate", "--store", "sqlite:a.db"}).exit, 0);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(home.path("a.db").c_str(), &database), SQLITE_OK);
  const int inserted = sqlite3_exec(database,
                                    "insert into sluice_migrations (version, name, checksum, applied_at) "
                                    "values (999, '0999_future', 'x', '2030-01-01T00:00:00.000000Z')",
                                    nullptr, nullptr, nullptr);
  sqlite3_close(database);
  ASSERT_EQ(inserted, SQLITE_OK);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"publish", "demo.hello"},
                                                {"serve"},
                                                {"event", "list"},
                                                {"db", "migrate"},
                                                {"db", "migrate", "--dry-run"}}) {
    auto line = words;
    line.insert(line.end(), {"--store", "sqlite:a.db"});
    const auto answer = home.sluice(line);
    EXPECT_EQ(answer.exit, 1) << words.front() << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(HasSubstr("999"), HasSubstr("sluice")));
  }
  const auto version = home.sluice({"db", "version", "--store", "sqlite:a.db"});
  EXPECT_EQ(version.out, "999\n");
}

TEST(BadInput, LookingDoesNotCreateAStore) {
  Home home;
  const auto answer = home.sluice({"event", "list", "--store", "sqlite:missing.db"});
  EXPECT_EQ(answer.exit, 3);
  EXPECT_THAT(answer.err, HasSubstr("missing.db"));
  EXPECT_THAT(home.files(), IsEmpty());
}

TEST(BadInput, AnEventThatIsNotThere) {
  Home home;
  ASSERT_EQ(home.sluice({"db", "migrate"}).exit, 0);
  const auto answer = home.sluice({"event", "show", "0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", "-o", "json"});
  EXPECT_EQ(answer.exit, 3);
  EXPECT_THAT(answer.err, StartsWith(R"({"error":{"code":"not_found")"));
}

TEST(BadInput, GrantsOnAnEmbeddedStore) {
  Home home;
  ASSERT_EQ(home.sluice({"db", "migrate"}).exit, 0);
  const auto answer = home.sluice({"db", "grant", "reader", "app"});
  EXPECT_EQ(answer.exit, 2);
  EXPECT_THAT(answer.err, HasSubstr("no roles"));
}

}  // namespace
}  // namespace sluice::test
