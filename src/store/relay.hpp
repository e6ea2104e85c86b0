// Deliveries through a broker: the switch, and what consumers of the broker report back.
//
// With the relay on, a daemon claims events, publishes them to the broker and settles them as delivered. Consumers
// handle the messages; what they cannot handle they report here, so that dead letters, replay and audit stay in one
// place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/attempt.hpp"
#include "core/settle.hpp"

namespace sluice::store {

enum class RelayState {
  off,       ///< listeners claim from the database
  on,        ///< the relay claims; listeners consume from the broker
  draining,  ///< nobody claims: consumers finish what the broker still has, so that keys stay in order
};

inline std::string_view name(RelayState state) {
  return state == RelayState::on ? "on" : state == RelayState::draining ? "draining" : "off";
}

struct RelaySwitch {
  RelayState state = RelayState::off;
  std::string broker;      ///< nats, redis; empty while off
  Timestamp changed_at{};  ///< of one that never changed: the epoch
  std::string changed_by;
  std::string reason;

  /// Whether workers may claim for handlers of their own.
  [[nodiscard]] bool claims_here() const { return state == RelayState::off; }
};

/// As the stores keep it: `off`, `on nats`, `draining redis`.
inline RelaySwitch parse_relay(std::string_view value) {
  RelaySwitch parsed;
  const auto space = value.find(' ');
  if (space == std::string_view::npos) return parsed;
  parsed.state = value.substr(0, space) == "on" ? RelayState::on : RelayState::draining;
  parsed.broker = value.substr(space + 1);
  return parsed;
}

/// In claimed_by of every event that a relay has claimed: `<process>/relay:nats/0`. Only such an event can fail after
/// it was delivered.
inline constexpr std::string_view kRelayMark = "/relay:";

/// What became of one message at one handler.
struct ConsumerReport {
  Uuid event_id;
  std::int64_t replay = 0;  ///< as the message carries it: the fence
  std::string idempotency_key;
  bool handled = false;             ///< a dedup row is written
  HandlerProgress progress;         ///< names the handler. Not handled: tried again when due, or out of attempts
  std::vector<Attempt> attempts{};  ///< for the attempt log; kept when the report is `done`
};

enum class Reported {
  done,
  early,  ///< the relay has not settled the event yet: nothing was written, report again
  stale,  ///< the event was replayed meanwhile or is gone: nothing was written, nothing is left to say
};

/// How far an event has come.
struct RelayedEvent {
  Uuid event_id;
  std::int64_t replay = 0;                ///< 0 before the first replay
  std::vector<HandlerProgress> progress;  ///< of handlers that have reported
  std::optional<Timestamp> replayed_at = {};
};

}  // namespace sluice::store
