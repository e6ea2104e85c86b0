#include "tests/support/postgres_database.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

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

PostgresDatabase::PostgresDatabase(Schema schema) : name_(fresh_name()) {
  SqlSession server{server_url()};
  server.must("create database " + name_);
  if (schema == Schema::none) return;
  store::PostgresOptions options;
  options.dsn = url();
  options.check_schema = false;
  const auto opened = store::open_postgres(options);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  if (!opened) return;
  const auto migrated = (*opened)->migrate();
  EXPECT_TRUE(migrated) << (migrated ? "" : migrated.error().message);
  const char* layout = std::getenv("SLUICE_TEST_LAYOUT");
  const bool everywhere = layout != nullptr && std::string_view{layout} == "partitions";
  if (schema != Schema::partitioned && !everywhere) return;
  const auto made = make_partitions(**opened);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
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
