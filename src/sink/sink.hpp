// The sink seam: where deliveries go. A batch in, a verdict per event out: a sink is a batch handler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/handler.hpp>
#include <sluice/time.hpp>
#include "core/sink_switch.hpp"

namespace sluice::sink {

/// Whether a sink takes deliveries.
enum class SinkState {
  active,
  paused,     ///< by an operator: events wait, no attempt is counted
  disabled,   ///< the receiver said that it is gone (410)
  open,       ///< too many failures in a row: the circuit rests before the next try
  half_open,  ///< one try is under way
};
/// The stable names, by SinkState.
inline constexpr std::array<std::string_view, 5> kSinkStates{"active", "paused", "disabled", "open", "half_open"};
constexpr std::string_view name(SinkState state) { return kSinkStates[static_cast<std::size_t>(state)]; }

struct SinkStatus {
  std::string name;
  std::string kind;    ///< http, nats, redis, exec, log
  std::string target;  ///< for people, without secrets
  SinkState state = SinkState::active;
  std::int64_t in_flight = 0;
  std::int64_t delivered = 0;  ///< since the start of the process
  std::int64_t failed = 0;
  double p50_ms = 0;  ///< over the last few hundred deliveries
  double p95_ms = 0;
  std::string last_error;
  std::optional<Timestamp> last_failed_at;
  std::optional<Timestamp> resumes_at;  ///< of an open circuit
};

/// What all processes share about a sink.
struct SharedState {
  SinkSwitch state = SinkSwitch::active;
  std::optional<Timestamp> open_until;  ///< the circuit is open, and until when nothing is tried
};

/// What a sink has learnt about its receiver and the other processes should know.
struct SinkNews {
  enum class What { gone, circuit_opened, circuit_closed };
  What what = What::gone;
  Duration open_for{};  ///< circuit_opened
  std::string reason;   ///< what the receiver did
};

/// How a trial delivery went.
struct ProbeReport {
  bool ok = false;
  std::string status;  ///< in one word: `200`, `http_503`, `timeout`, `handled`
  std::string detail;  ///< what the receiver said, made harmless
  Duration took{};
};

class Sink {
 public:
  virtual ~Sink() = default;
  /// Delivers each event; the verdicts are in the order of the events. Must be safe to call from several
  /// threads at once.
  virtual std::vector<Verdict> deliver(std::span<const EventEnvelope> events, const Delivery& delivery) = 0;

  [[nodiscard]] virtual SinkStatus status() const = 0;
  /// Takes over what the processes share. From now on deliveries to a sink that is not active are deferred; those under
  /// way are finished. What this process has learnt and not yet told is newer and stays.
  virtual void follow(const SharedState& shared) = 0;
  [[nodiscard]] virtual bool has_news() const = 0;
  /// In the order in which it was learnt, and once.
  virtual std::vector<SinkNews> take_news() = 0;

  /// Delivers this one event, whatever the sink's state, and counts it nowhere.
  virtual ProbeReport probe(const EventEnvelope& event) = 0;
};

}  // namespace sluice::sink
