// A database of its own for one test, in the server that tests/support/with-postgres started.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;

namespace sluice::test {

/// A plain SQL session, for what a user would type into psql. A failed statement is a value.
class SqlSession {
 public:
  explicit SqlSession(const std::string& url);
  ~SqlSession();
  SqlSession(const SqlSession&) = delete;
  SqlSession& operator=(const SqlSession&) = delete;

  struct Answer {
    std::vector<std::vector<std::optional<std::string>>> rows;
    std::string error;     ///< primary message; empty = success
    std::string sqlstate;  ///< of the error
    [[nodiscard]] bool ok() const { return error.empty(); }
    /// The first column of the first row; empty when there is none.
    [[nodiscard]] std::string value() const;
  };
  Answer run(std::string_view sql);
  /// run() that must succeed; the test fails otherwise.
  Answer must(std::string_view sql);

  /// Runs `sql` and returns the notices that the server sent meanwhile, such as auto_explain's plans.
  std::string notices(std::string_view sql);

  struct Notification {
    std::string channel;
    std::string payload;
  };
  /// Waits until a notification is here; none after ten seconds.
  std::optional<Notification> wait_notification();

 private:
  pg_conn* connection_;
};

/// A database with the schema of these sources, as a copy of one that the processes of a test run migrate once. With
/// partitions: core.outbox in months.
void create_migrated(SqlSession& server, const std::string& server_url, const std::string& name,
                     bool partitions = false);

class PostgresDatabase {
 public:
  /// `migrated` is partitioned where SLUICE_TEST_LAYOUT says `partitions`, so that a whole program can run over it.
  enum class Schema { none, migrated, partitioned };
  explicit PostgresDatabase(Schema schema = Schema::migrated);
  ~PostgresDatabase();
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The URL for a role of the same server; default: the superuser.
  [[nodiscard]] std::string url(const std::string& user = {}, const std::string& password = {}) const;

 private:
  std::string name_;
};

}  // namespace sluice::test
