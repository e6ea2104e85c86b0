// What the contract suite needs besides the seam: a fresh store for each test, a second look at the
// same data, old age without waiting, and raw SQL to do what no store would.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::contract {

/// A publish whose transaction stays open until `commit`; undone when it is dropped.
class UnfinishedPublish {
 public:
  virtual ~UnfinishedPublish() = default;
  virtual Result<void> commit() = 0;
};

using Rows = std::vector<std::vector<std::optional<std::string>>>;

class Harness {
 public:
  virtual ~Harness() = default;

  virtual store::Store& store() = 0;

  /// Another store on the same data, as another process would have it.
  virtual Result<std::unique_ptr<store::Store>> second_store() = 0;

  /// Everything that is stored becomes that much older, in the eyes of the store.
  virtual void age(Duration by) = 0;

  /// Runs one statement past the store. `{outbox}`, `{event_handled}`, `{deployments}`, `{settings}`,
  /// `{audit}` and `{migrations}` stand for the tables, `{now}` for the database's present time.
  virtual Result<Rows> raw_sql(const std::string& statement) = 0;

  /// Runs one statement in a transaction of the store's, as a handler would.
  virtual Result<Rows> run_in(const store::NativeTransaction& transaction, const std::string& statement) = 0;

  /// Leaves the event as no store would: passed_over, a pending one where no claim looks; no_claim, one in flight
  /// without its claim; blocker_gone, the head of an ordering key, in flight, delivered without the key being told.
  virtual Result<void> strand(const Uuid& id, store::StrandedCause cause) = 0;

  virtual Result<std::unique_ptr<UnfinishedPublish>> begin_unfinished_publish(const Uuid& id) = 0;

  /// One sentence per damage found; runs at the end of every test.
  virtual Result<std::vector<std::string>> integrity_check() = 0;
};

/// An error when the database that the harness needs is not there.
Result<std::unique_ptr<Harness>> make_sqlite_harness();
/// With partitions: core.outbox in months, what occurs now in one of its own.
Result<std::unique_ptr<Harness>> make_postgres_harness(bool partitions);

/// Replaces each `{name}` of the statement.
std::string with_names(std::string statement, const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace sluice::contract
