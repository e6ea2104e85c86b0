// The store seam, switching: the sinks that daemons deliver to, and whether each takes deliveries.
//
// A sink's state outlives the process that changed it and is one for all of them: a sink that was paused, or whose
// receiver is gone, stays so after a restart.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "core/sink_switch.hpp"
#include "store/administering.hpp"

namespace sluice::store {

/// A sink as a configuration declares it.
struct SinkDeclaration {
  std::string name;
  std::string kind;                   ///< http, exec, log
  std::string target;                 ///< for people, without secrets
  std::vector<std::string> handlers;  ///< names of the subscriptions that it serves
};

struct SinkRecord {
  SinkDeclaration declared;
  SinkSwitch state = SinkSwitch::active;
  Timestamp changed_at{};               ///< the state; of one that never changed: when it was first declared
  std::string changed_by;               ///< empty: it never changed
  std::string reason;                   ///< of the change
  std::optional<Timestamp> opened_at;   ///< since when the circuit is not closed
  std::optional<Timestamp> open_until;  ///< set together with it: from then on one event is tried
  std::string open_reason;              ///< what the receiver did last
  Timestamp declared_at{};              ///< when a daemon last declared it

  /// Events are delivered to it as they come.
  [[nodiscard]] bool takes_deliveries() const { return state == SinkSwitch::active && !open_until; }
};

struct SinkRecords {
  Timestamp now{};
  std::vector<SinkRecord> sinks;  ///< by name
};

class Switching {
 public:
  virtual ~Switching() = default;

  /// Adds or replaces what is declared, by name; the state of one that is known stays.
  virtual Result<void> declare_sinks(std::span<const SinkDeclaration> sinks) = 0;
  virtual Result<SinkRecords> sinks() = 0;

  /// Moves it to another state, audited; closes the circuit of one that becomes active. What changes nothing is
  /// answered, not audited. not_found when there is no such sink; needs a reason.
  virtual Result<SinkRecord> switch_sink(const std::string& name, SinkSwitch to, const Actor& actor) = 0;
  /// The circuit is open for this long from the store's now; none: closed. The first opening and the closing are
  /// audited. not_found when there is no such sink; the reason is what the receiver did.
  virtual Result<SinkRecord> move_circuit(const std::string& name, std::optional<Duration> open_for,
                                          const Actor& actor) = 0;
};

}  // namespace sluice::store
