// The relay's switch: whether a broker carries the deliveries. Turned on when stream and consumers are there; turned
// back when the broker has nothing left, so that ordering keys stay in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/broker.hpp"
#include "core/generation.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// As the configuration has it; the same in every process.
struct RelaySettings {
  std::string kind;  ///< nats, redis; empty: no broker is configured
  broker::StreamSpec stream;
  int shards = 16;
  Duration ack_wait = std::chrono::seconds{60};
  Duration claim_ttl = std::chrono::seconds{300};  ///< what a relay that died has published is published again after it
};

/// What the broker has for one handler, in all its shards.
struct HandlerLoad {
  Generation generation = kFirstGeneration;
  std::string handler_name;
  std::int64_t waiting = 0;    ///< messages that it has not been given
  std::int64_t unsettled = 0;  ///< given and not done, retries included

  [[nodiscard]] std::int64_t messages() const { return waiting + unsettled; }
};
/// `12 for billing.mailer (generation 1), 3 for search.indexer (generation 1)`
std::string in_words(const std::vector<HandlerLoad>& loads);

struct RelayView {
  store::RelaySwitch relay;
  std::optional<broker::BrokerFacts> broker;  ///< none: none is configured, or it could not be reached
  std::string trouble;                        ///< why not
  std::int64_t waiting = 0;                   ///< messages that some subscribed handler has not been given
  std::int64_t unsettled = 0;                 ///< given and not done, retries included
  std::int64_t claimed = 0;              ///< events that a relay has claimed and not yet published; of the first 1,000
  std::vector<HandlerLoad> handlers;     ///< subscribed, with messages left; the most first
  std::vector<HandlerLoad> left_behind;  ///< of handlers that were removed: nobody waits for these messages

  /// Whether the broker has nothing left for any handler that subscribes.
  [[nodiscard]] bool is_drained() const { return waiting == 0 && unsettled == 0 && claimed == 0; }
};

/// What the switch says and what the broker has. `broker` may be null.
Result<RelayView> look_at_relay(store::Administering& store, broker::Broker* broker);

/// Refuses with one sentence what a relay cannot serve: an embedded store, no broker or another one, workers that pull.
Result<void> check_relay(store::Administering& store, const std::string& wanted, const RelaySettings& settings);

struct StreamFault {
  std::string what;  ///< half a sentence that names the stream
  std::string fix;   ///< the command that mends it
};
/// Why this stream loses events, or hands them out twice; empty: it does not. What is not known is no fault.
std::vector<StreamFault> faults_of(const broker::BrokerFacts& facts, const RelaySettings& settings);
/// What this stream drops sooner than relay.max_age says; nothing is lost while its consumers keep up.
std::optional<StreamFault> drops_too_soon(const broker::BrokerFacts& facts, const RelaySettings& settings);

/// Makes the stream and a consumer per subscribed handler, then turns the switch. Repeatable. conflict: a stream that
/// is there has faults, or drops messages too soon.
Result<RelayView> relay_on(store::Administering& store, broker::Broker& broker, const RelaySettings& settings,
                           const store::Actor& actor);

/// The way back, first part: nothing more is relayed or claimed; consumers finish what the broker has.
Result<RelayView> relay_back(store::Administering& store, broker::Broker& broker, const RelaySettings& settings,
                             const store::Actor& actor);
/// Second part: listeners claim again. conflict while the broker has something left, unless forced.
Result<RelayView> relay_off(store::Administering& store, broker::Broker* broker, bool force, const store::Actor& actor);

std::string to_json(const RelayView& view);

}  // namespace sluice::ops
