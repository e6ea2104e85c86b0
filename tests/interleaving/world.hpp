// The world of a scenario: a database, sessions, and a log of what became of each event, against which each order is
// judged. Each order has a generation and ordering keys of its own, so that nothing has to be cleared in between.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/store.hpp"
#include "tests/interleaving/explorer.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {

/// Or an exception that says what failed.
template <class T>
T value_of(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string{what} + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

class World {
 public:
  World();

  // Setting up an order -------------------------------------------------------------------------------------------
  /// A new generation with these subscriptions (handler, pattern); everything before is forgotten.
  void renew(const std::map<std::string, std::string>& subscriptions);
  /// See Scenario::dear; for stores that are opened after it.
  void take_rescans_for_dear(bool dear) { dear_ = dear; }
  /// See Scenario::process; for stores that are opened after it.
  void share_a_store(const std::set<std::string>& process);
  /// See Scenario::relay.
  void relay(bool relayed);
  /// Replaces parts of a function of the schema: a guard taken out. Each part must be there.
  void mutate(const std::string& function, const std::vector<std::pair<std::string, std::string>>& parts);
  /// The whole function anew.
  void replace(const std::string& definition) { control_.must(definition); }

  // Steps ---------------------------------------------------------------------------------------------------------
  struct Event {
    std::string name;
    std::string key;  ///< empty: none
    std::string type = "x.happened";
  };
  Step sql(const std::string& name, const std::string& session, const std::string& text);
  Step publish(const std::string& session, const Event& event);  ///< and commit
  Step publish_begun(const std::string& session, const Event& event);
  Step commit(const std::string& session);
  Step rollback(const std::string& session);
  Step claim(const std::string& session, int limit = 10, const std::string& pattern = {});
  Step claim_begun(const std::string& session, int limit = 10);  ///< by SQL, in a transaction that commit() ends
  enum class End { delivered, retry, failed, released };
  Step settle(const std::string& session, End end = End::delivered);
  Step settle_begun(const std::string& session, End end = End::delivered);
  Step settle_committed(const std::string& session);
  Step look(const std::string& session, const std::string& pattern = {});
  Step look_begun(const std::string& session, const std::string& pattern = {});
  /// What a process would remember of a rescan before it tells anybody: for the mutant that trusts it.
  Step glance(const std::string& session);
  /// The claims of others run out, and are settled as the reaper does.
  Step expire(const std::string& session);
  Step reap(const std::string& session);
  Step replay(const std::string& session, const std::string& event);
  /// What an operator does to one event; refused, and nothing is changed, where its state does not allow it.
  Step run_now(const std::string& session, const std::string& event);
  Step cancel(const std::string& session, const std::string& event);
  Step restore(const std::string& session, const std::string& event);
  Step resend(const std::string& session, const std::string& event, const std::string& handler);
  Step unsubscribe_begun(const std::string& session, const std::string& handler);
  Step crash(const std::string& session, const std::string& victim);
  /// Rescans of the process stand still, before they have read anything or when they have read it all, until commit().
  enum class Moment { before, after };
  Step hold_rescans(const std::string& session, Moment moment);
  /// Those that stand still fail.
  Step cancel_rescans(const std::string& session);

  // Steps of a relay ----------------------------------------------------------------------------------------------
  /// on, draining, off.
  Step turn(const std::string& session, const std::string& state);
  /// Off, if the broker has nothing left and no relay is about to publish.
  Step turn_off_when_drained(const std::string& session);
  /// As RelayClaims: while the switch is on, and given back when it is not any more. settle() is the broker's answer.
  Step relay_claim(const std::string& session);
  /// Everything that is in the broker is handled.
  Step consume(const std::string& session);
  /// A consumer is out of attempts at this event, if a relay has published it.
  Step report(const std::string& session, const std::string& event);
  /// Claims of listeners, or of relays, stand still when they have seen the switch, until commit().
  enum class Whose { listeners, relays };
  Step hold_claims(const std::string& session, Whose whose);

  // Judging -------------------------------------------------------------------------------------------------------
  [[nodiscard]] bool waits(const std::string& session);
  /// What must hold after every step.
  [[nodiscard]] std::string objection();
  /// Everybody ends what they hold, then everything is delivered by `session`'s store; what is wrong then.
  [[nodiscard]] std::string drained(const std::string& session, const std::vector<std::string>& patterns);
  /// Ends the connections of the sessions, or of one.
  void stop(const std::string& session = {});

  [[nodiscard]] std::int64_t generation() const { return generation_; }
  SqlSession& control() { return control_; }

 private:
  struct Note {
    std::string key;
    std::string type;
    int began = 0;
    int committed = 0;  ///< 0: not yet
    bool open = false;  ///< committed, and neither delivered nor failed since
    int claims = 0;
    int most_claims = 1;
    int deliveries = 0;
    int most_deliveries = 1;
    std::set<std::string> reported_by;  ///< sessions whose report was written
  };
  using Held = std::map<std::string, store::ClaimRef>;  ///< by event
  struct Session {
    std::string name;
    std::unique_ptr<SqlSession> sql;
    std::unique_ptr<store::Store> store;
    std::vector<std::string> publishing;  ///< in the open transaction
    Held held;
    std::unique_ptr<store::EffectTransaction> effect;
    Held settling;  ///< in the effect
    std::vector<Uuid> fenced;
    End end = End::delivered;
    std::string withdrawing;  ///< a handler, in the open transaction
    bool in_transaction = false;
    std::atomic<bool> crashed = false;
  };
  Session& session(const std::string& name);
  /// Whose store the session uses: its own, or that of the first of the process.
  [[nodiscard]] std::string owner_of(const std::string& session) const;
  std::set<std::string> plain_ones();
  void check_found(Session& session, const std::set<std::string>& before);
  SqlSession& sql_of(Session& session);
  store::Store& store_of(Session& session);
  Step step(std::string name, const std::string& session, std::function<void(Session&)> run);
  /// `call` is a function of the schema with `id` for the event; `then` is for the event's note when it was not
  /// refused.
  Step act(const std::string& session, const std::string& name, const std::string& event, const std::string& call,
           std::function<void(Note&)> then);
  void must(Session& session, const std::string& text);
  std::string insert(Session& session, const Event& event);
  void committed(Session& session);
  std::set<std::string> open_ones();
  void claimed(Session& session, const std::string& name, const store::ClaimRef& claim,
               const std::set<std::string>& open_before);
  std::vector<store::SettleItem> items(const Held& held, End end);
  void settled(const Held& held, const std::vector<Uuid>& fenced, End end);
  store::ClaimRequest request(const std::string& worker, int limit, const std::string& pattern) const;
  std::string advance(const std::string& pattern) const;
  void reap_now(Session& session);
  std::string switch_state(Session& session);
  std::string lost_report();
  std::string group(const std::string& pattern) const;
  std::string key_of(const Event& event) const;

  PostgresDatabase database_;
  SqlSession control_{database_.url()};
  std::mutex mutex_;  // guards the log
  std::int64_t generation_ = 1;
  int tick_ = 0;
  std::atomic<bool> crashed_ = false;
  std::atomic<bool> by_sql_ = false;  ///< some batches are not known to a store, which forgets those it has settled
  std::map<std::string, Note> notes_;
  std::map<Uuid, std::string> names_;
  std::map<std::string, std::string> subscriptions_;
  std::string broken_;  ///< a promise that a step saw broken
  bool dear_ = false;
  bool relay_ = false;
  std::set<std::string> process_;  ///< sessions that are threads of one process
  std::map<std::string, Session> sessions_;
};

struct Scenario {
  std::string name;
  std::map<std::string, std::string> subscriptions{{"x.all", "*"}};
  std::function<void(World&)> setup;  ///< before the sessions begin; steps that it runs itself
  std::function<std::vector<Script>(World&)> scripts;
  std::vector<std::string> patterns{""};  ///< of the groups that drain
  std::string drained_by;                 ///< a session that drains every other order; empty: none
  bool dear = false;  ///< stores take every rescan for dear: between two of them they read only the numbers nobody had
  /// These sessions are threads of one process, with one store. One of them at a time may read everything, and where
  /// that is dear no claim of the others leaves out an event without a key.
  std::set<std::string> process{};
  bool relay = false;  ///< claims can be held, and a broker takes part
};

struct Exploration {
  std::uint64_t orders = 0;
  std::uint64_t possible = 0;
  std::string violation;  ///< the first; empty: none
};
/// Runs up to `most` orders, and stops at the first that ends badly.
Exploration explore(const Scenario& scenario, World& world, std::uint64_t most, std::uint64_t seed);
/// How many orders of a scenario to run: SLUICE_INTERLEAVINGS, a number or `full`.
std::uint64_t most_orders();
std::uint64_t sample_seed();

}  // namespace sluice::test
