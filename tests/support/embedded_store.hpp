// A real embedded store in a folder of its own, on a clock that the test sets, and the steps that
// bring its events into a state: each is a verb of the store, as a worker or an operator calls it.
//
// A step that the store refuses throws, which fails the test.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "store/administer.hpp"
#include "store/claimed_event.hpp"
#include "store/registry.hpp"
#include "tests/support/event_record.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
class Store;
}

namespace sluice::test {

class EmbeddedStore {
 public:
  enum class Start { no_file, no_schema, migrated };
  /// `file` is relative to the folder.
  explicit EmbeddedStore(Start start = Start::migrated, const std::string& file = "sluice.db");
  ~EmbeddedStore();

  Timestamp now = kStart;  ///< the clock of every handle on this file

  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool exists() const;

  /// The test's own handle; opened when it is first used. As use cases see it: without claiming.
  store::Administering& operator*();
  store::Administering* operator->() { return &**this; }
  /// With claiming. Only who calls this includes store/store.hpp, and is compiled again whenever claiming changes.
  store::Store& whole();

  /// What a user would type into the sqlite3 shell; the first column of each row.
  std::vector<std::string> sql(const std::string& statement) const;

  /// As a newer build would leave the file: its migration 999 is applied.
  void add_future_migration() const;

  void subscribe(Generation generation, const std::vector<Subscription>& subscriptions);
  void announce(const store::WorkerRecord& worker);
  void publish(const Uuid& id, Generation generation = kFirstGeneration);
  /// pending → in flight. Other due events are claimed too and given back.
  store::ClaimedEvent claim(const Uuid& id);
  /// Whatever is published → in flight.
  std::vector<store::ClaimedEvent> claim_all();
  /// in flight → what the outcome decides, without delay before a retry.
  void settle(const store::ClaimedEvent& event, const Outcome& outcome, std::vector<std::string> handled_by = {});
  /// pending → delivered.
  void deliver(const Uuid& id, const std::string& handler = "sluice.log");
  /// pending → failed, after as many attempts as the policy allows.
  void fail(const Uuid& id, const std::string& message = "slow", std::vector<std::string> handled_by = {});

  /// Oldest first.
  std::vector<store::EventRecord> events();
  /// Allocates the generation and moves it on until it is in this state.
  void bring_generation(Generation generation, GenerationState state);

 private:
  Start start_;
  TempDir folder_;
  std::string path_;
  std::unique_ptr<store::Store> store_;
};

/// The value, or an exception with the error's sentence.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

}  // namespace sluice::test
