#include "tests/support/postgres_database.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/partitions.hpp"

namespace sluice::test {
namespace {

std::string server_url() {
  const char* url = std::getenv("SLUICE_TEST_POSTGRES");
  if (url == nullptr) {
    ADD_FAILURE()
        << "SLUICE_TEST_POSTGRES is not set: run the tests with ./run test, or under tests/support/with-postgres";
    return "postgres://127.0.0.1:1/none";
  }
  return url;
}

std::string with_database(const std::string& url, const std::string& database) {
  return url.substr(0, url.rfind('/') + 1) + database;
}

std::string fresh_name() {
  static int count = 0;
  return "sluice_" + std::to_string(getpid()) + "_" + std::to_string(++count);
}

// FNV-1a over the migrations, so that a template of another schema is never taken.
std::string template_name() {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const store::MigrationText& migration : store::postgres_migrations()) {
    for (const char character : migration.sql) {
      hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    }
  }
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return std::string{"sluice_template_"} + hex.data();
}

void migrate(const std::string& url, bool partitions) {
  store::PostgresOptions options;
  options.dsn = url;
  options.check_schema = false;
  const auto opened = store::open_postgres(options);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto migrated = (*opened)->migrate();
  ASSERT_TRUE(migrated) << migrated.error().message;
  if (!partitions) return;
  // What occurs now has a month of its own, what occurred before has not.
  const auto made = make_partitions(**opened, 0, 1);
  ASSERT_TRUE(made) << made.error().message;
  // Tests begin with an empty audit.
  SqlSession{url}.must("set session_replication_role = replica; truncate core.audit restart identity");
}

// Test processes run side by side and share it; the advisory lock lets one of them make it. It carries its final name
// only once it is complete.
void make_template(SqlSession& server, const std::string& server_url, const std::string& name, bool partitions) {
  server.must("select pg_advisory_lock(7021001)");
  if (server.must("select 1 from pg_database where datname = '" + name + "'").rows.empty()) {
    const std::string draft = name + "_draft";
    server.must("drop database if exists " + draft + " with (force)");
    server.must("create database " + draft);
    migrate(with_database(server_url, draft), partitions);
    // The store's own connections have been closed, but their backends may still be ending.
    server.must("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '" + draft + "'");
    server.must("alter database " + draft + " rename to " + name);
  }
  server.must("select pg_advisory_unlock(7021001)");
}

}  // namespace

SqlSession::SqlSession(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  EXPECT_EQ(PQstatus(connection_), CONNECTION_OK) << PQerrorMessage(connection_);
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
}

SqlSession::~SqlSession() { PQfinish(connection_); }

std::string SqlSession::Answer::value() const {
  return rows.empty() || rows[0].empty() ? std::string{} : rows[0][0].value_or("");
}

SqlSession::Answer SqlSession::run(std::string_view sql) {
  PGresult* result = PQexec(connection_, std::string{sql}.c_str());
  Answer answer;
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    answer.error = primary ? primary : PQerrorMessage(connection_);
    answer.sqlstate = state ? state : "";
  }
  for (int row = 0; row < PQntuples(result); ++row) {
    auto& cells = answer.rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      cells.push_back(PQgetisnull(result, row, column) ? std::nullopt
                                                       : std::optional<std::string>{PQgetvalue(result, row, column)});
    }
  }
  PQclear(result);
  return answer;
}

SqlSession::Answer SqlSession::must(std::string_view sql) {
  Answer answer = run(sql);
  EXPECT_TRUE(answer.ok()) << answer.error << "\nin: " << sql;
  return answer;
}

std::string SqlSession::notices(std::string_view sql) {
  std::string text;
  PQsetNoticeProcessor(
      connection_, [](void* to, const char* message) { *static_cast<std::string*>(to) += message; }, &text);
  must(sql);
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
  return text;
}

std::optional<SqlSession::Notification> SqlSession::wait_notification() {
  for (int tries = 0; tries < 100; ++tries) {
    PQconsumeInput(connection_);
    if (PGnotify* notify = PQnotifies(connection_)) {
      Notification notification{notify->relname, notify->extra};
      PQfreemem(notify);
      return notification;
    }
    pollfd descriptor{PQsocket(connection_), POLLIN, 0};
    poll(&descriptor, 1, 100);
  }
  return std::nullopt;
}

void create_migrated(SqlSession& server, const std::string& server_url, const std::string& name, bool partitions) {
  constexpr const char* kNoSuchDatabase = "3D000";
  const std::string copied_from = template_name() + (partitions ? "_partitions" : "");
  // Not by way of the log, which would be 9 MB for each.
  const std::string statement = "create database " + name + " template " + copied_from + " strategy file_copy";
  const auto created = server.run(statement);
  if (created.ok()) return;
  EXPECT_EQ(created.sqlstate, kNoSuchDatabase) << created.error;
  make_template(server, server_url, copied_from, partitions);
  server.must(statement);
}

PostgresDatabase::PostgresDatabase(Schema schema) : name_(fresh_name()) {
  SqlSession server{server_url()};
  if (schema == Schema::none) {
    server.must("create database " + name_);
  } else {
    const char* layout = std::getenv("SLUICE_TEST_LAYOUT");
    const bool everywhere = layout != nullptr && std::string_view{layout} == "partitions";
    create_migrated(server, server_url(), name_, everywhere || schema == Schema::partitioned);
  }
}

PostgresDatabase::~PostgresDatabase() {
  SqlSession server{server_url()};
  server.must("drop database if exists " + name_ + " with (force)");
}

std::string PostgresDatabase::url(const std::string& user, const std::string& password) const {
  std::string url = with_database(server_url(), name_);
  if (!user.empty()) {
    const auto start = url.find("://") + 3;
    url.replace(start, url.find('@') - start, user + ":" + password);
  }
  return url;
}

}  // namespace sluice::test
