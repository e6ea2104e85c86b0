// The sink seam: where deliveries go. A batch in, a verdict per event out: a sink is a batch handler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/handler.hpp>
#include <sluice/time.hpp>

namespace sluice::sink {

/// Whether a sink takes deliveries.
enum class SinkState {
  active,
  paused,     ///< by an operator: events wait, no attempt is counted
  disabled,   ///< the receiver said that it is gone (410)
  open,       ///< too many failures in a row: the circuit rests before the next try
  half_open,  ///< one try is under way
};
std::string_view name(SinkState state);

struct SinkStatus {
  std::string name;
  std::string kind;    ///< http, exec, log
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
  /// From now on deliveries are deferred; those under way are finished.
  virtual void pause() = 0;
  /// Takes deliveries again, also after the receiver was said to be gone.
  virtual void resume() = 0;

  /// Delivers this one event, whatever the sink's state, and counts it nowhere.
  virtual ProbeReport probe(const EventEnvelope& event) = 0;
};

}  // namespace sluice::sink
