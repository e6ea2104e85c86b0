// Applying decisions in a transaction that somebody else begins and ends.
#pragma once

#include <optional>
#include <span>

#include "store/claim.hpp"
#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

struct Settling {
  std::span<const SettleItem> items;
  std::optional<RegistryVersion> based_on;
  Timestamp now;
  std::int64_t boot = 0;  ///< claims of another one are fenced
};

/// Whether the claim was made before the machine was last started: a power failure may have undone it, and its number
/// may have been given out again.
inline bool is_of_another_boot(const ClaimRef& claim, std::int64_t boot) {
  return claim.batch != 0 && claim.batch != boot;
}

Result<SettleReport> settle_on(Connection& connection, const Settling& settling);

/// Records that a handler has handled an event; false when it was recorded before.
Result<bool> record_handled(Connection& connection, const HandledKey& key, const Uuid& event_id, Timestamp now);

/// Adds to the attempt log of each event, and forgets what is too much for one.
Result<void> record_attempts(Connection& connection, const AttemptList& attempts, Timestamp now);

Result<RegistryVersion> registry_version(Connection& connection);
Result<RelaySwitch> read_relay(Connection& connection);

/// Whether one of the decisions gives its event back, so that somebody may claim it.
bool gives_back(std::span<const SettleItem> items);

}  // namespace sluice::store::sqlite
