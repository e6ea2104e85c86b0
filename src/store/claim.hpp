// The store seam, claiming: events out, decisions back, each fenced by its claim; and what a worker says of itself.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/attempt.hpp"
#include "core/generation.hpp"
#include "core/settle.hpp"
#include "core/subscription.hpp"
#include "store/claimed_event.hpp"
#include "store/event_record.hpp"
#include "store/registry.hpp"
#include "store/relay.hpp"
#include "store/statement.hpp"

struct pg_conn;
struct sqlite3;

namespace sluice::store {

struct ClaimRequest {
  Generation generation = kFirstGeneration;
  std::string worker;  ///< unique per process start
  int limit = 10;
  Duration ttl = std::chrono::seconds{300};  ///< the claim expires this long after it was made or renewed
  std::vector<Interest> interests;           ///< an event matches one of them; empty = every event
  /// The handlers that the worker hosts. An event that waits for particular handlers is claimed only
  /// when one of these is due; empty = whichever it waits for.
  std::vector<std::string> handlers;
  /// Whether this process settles what it claims. Workers that pull may settle through another one.
  bool settled_here = true;
};

struct SettleItem {
  ClaimRef claim;
  Settlement settlement;
  /// Handlers that have handled the event in this attempt: recorded in event_handled in the same
  /// transaction, also when the claim turns out to be fenced, because the effect did happen.
  std::vector<std::string> handled_by;
  std::string idempotency_key;  ///< needed when handled_by is not empty
  /// For the attempt log, in the same transaction. Of a claim that turns out to be fenced nothing is kept: whoever took
  /// the event back has recorded that it expired.
  std::vector<Attempt> attempts{};
};

struct SettleReport {
  int settled = 0;
  std::vector<Uuid> fenced;  ///< the claim_seq no longer matched: nothing was changed for these
};

/// What a transaction runs on: the database's own handle. Exactly one is set.
struct NativeTransaction {
  pg_conn* postgres = nullptr;
  sqlite3* sqlite = nullptr;
};

/// One transaction that carries the effects of a handler together with their dedup rows and the settle.
/// Destroying it without a commit undoes everything.
///
/// Thread-safety: none.
class EffectTransaction {
 public:
  virtual ~EffectTransaction() = default;

  struct Entry {
    ClaimRef claim;  ///< claim_seq 0: of a broker's message, which has none; the dedup row alone decides
    std::string idempotency_key;
  };
  enum class Entered {
    fresh,    ///< recorded as handled by the handler: run it
    handled,  ///< the handler has handled this key before: do not run it
    fenced,   ///< the claim is lost: do not run it and do not settle it
  };
  /// In the order of the entries. A second entry of the same key in one call is `handled`.
  virtual Result<std::vector<Entered>> enter(std::string_view handler_name, std::span<const Entry> entries) = 0;

  /// Runs one statement of the handler's own, parameters `$1`, `$2`, … as text.
  virtual StatementOutcome statement(std::string_view sql, std::span<const std::optional<std::string>> params) = 0;

  /// Marks a point to which undo_to_mark() returns; a new mark replaces the old one.
  virtual Result<void> mark() = 0;
  virtual Result<void> undo_to_mark() = 0;

  /// As Claiming::settle, within this transaction.
  virtual Result<SettleReport> settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) = 0;

  /// Durable when it returns. An error of kind in_doubt: the answer was lost.
  virtual Result<void> commit() = 0;

  [[nodiscard]] virtual NativeTransaction native() const = 0;
};

/// The error of a settle whose view of the subscriptions is old: load the registry and decide again.
inline Error registry_changed() {
  return {ErrorCode::conflict, Retry::safe, "the subscriptions have changed", "registry", {}};
}
inline bool is_registry_changed(const Error& error) {
  return error.code == ErrorCode::conflict && error.field == "registry";
}

class Claiming {
 public:
  virtual ~Claiming() = default;

  /// Takes up to `limit` claimable events: right generation, not deleted, due, key not blocked.
  /// Oldest first, best effort; strict per ordering key, of which at most one event is in flight.
  virtual Result<std::vector<ClaimedEvent>> claim(const ClaimRequest& request) = 0;

  /// Applies the decisions, each fenced by its claim_seq, all in one transaction. With `based_on`,
  /// nothing is applied and the error is registry_changed() when the subscriptions have changed since.
  virtual Result<SettleReport> settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) = 0;
  Result<SettleReport> settle(std::span<const SettleItem> items) { return settle(items, std::nullopt); }

  /// A transaction for handlers whose effect must happen exactly once. Where the database can, it ends one
  /// in which nothing was done for `longest_idle`: its process may stand still and hold the events.
  virtual Result<std::unique_ptr<EffectTransaction>> begin_effect(Duration longest_idle) = 0;

  /// Renews the claims for another `ttl`. Returns the ids whose claim was lost.
  virtual Result<std::vector<Uuid>> heartbeat(std::span<const ClaimRef> claims, Duration ttl) = 0;

  /// Which of these pairs are in event_handled.
  virtual Result<std::vector<HandledKey>> already_handled(std::span<const HandledKey> keys) = 0;

  /// What became of messages at the consumers of a broker; an answer for each, in order, all written in one
  /// transaction. A handler that is out of attempts makes its event failed, as a settle does; the report of a second
  /// one is added.
  virtual Result<std::vector<Reported>> report(std::span<const ConsumerReport> reports) = 0;
  /// How far these events have come; those that are gone are left out.
  virtual Result<std::vector<RelayedEvent>> relayed(std::span<const Uuid> ids) = 0;

  /// A secret of the store, the same for every process that delivers from it: what workers elsewhere hold is signed
  /// with it. Only who may claim may read it.
  virtual Result<std::string> token_secret() = 0;

  /// Adds or replaces the subscriptions, by generation and handler name, all or nothing. Repeating them
  /// unchanged changes no version. The last one to declare a subscription is whose it is to withdraw; an empty
  /// `declared_by` takes none over.
  virtual Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions,
                                 const std::string& declared_by) = 0;
  Result<void> subscribe(Generation generation, std::span<const Subscription> subscriptions) {
    return subscribe(generation, subscriptions, {});
  }
  /// "I am here": adds or renews the record of a worker process, `seen_at` being the store's now.
  virtual Result<void> announce(const WorkerRecord& worker) = 0;
  virtual Result<void> depart(const std::string& identity) = 0;
};

}  // namespace sluice::store
