// A bulk change of dead letters as a plan that is carried out step by step: its states, and the decision
// on what comes next. Pure: whoever carries it out, and however often it is killed, asks here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice {

enum class OperationKind { replay, discard, restore };
enum class OperationState {
  planned,    ///< frozen and priced, nothing changed yet
  running,    ///< somebody carries it out
  paused,     ///< an operator said wait
  stopped,    ///< too many failed again: ended by itself
  cancelled,  ///< ended by an operator
  finished,   ///< every event has its outcome
};

std::string_view name(OperationKind kind);
std::string_view name(OperationState state);
std::optional<OperationKind> parse_operation_kind(std::string_view text);
std::optional<OperationState> parse_operation_state(std::string_view text);
/// stopped, cancelled, finished.
[[nodiscard]] bool is_over(OperationState state);

struct OperationSettings {
  int rate = 0;           ///< events per second; 0: as fast as the deliveries keep up
  int canary = 0;         ///< this many first, and the rest only when they went well; 0: none
  int stop_percent = 20;  ///< stops when more than this share fails again; 100: never

  bool operator==(const OperationSettings&) const = default;
};

/// Every event of the set is in exactly one of these.
struct OperationCounts {
  std::int64_t total = 0;
  std::int64_t taken = 0;  ///< acted on or passed over, in the order of the set
  std::int64_t delivered = 0;
  std::int64_t failed_again = 0;
  std::int64_t skipped = 0;  ///< not in the state that the plan saw
  std::int64_t changed = 0;  ///< discarded or restored

  [[nodiscard]] std::int64_t remaining() const { return total - taken; }
  [[nodiscard]] std::int64_t in_flight() const { return taken - delivered - failed_again - skipped - changed; }

  bool operator==(const OperationCounts&) const = default;
};

struct OperationProgress {
  OperationKind kind = OperationKind::replay;
  OperationState state = OperationState::planned;
  OperationSettings settings;
  OperationCounts counts;
  std::optional<Timestamp> paced_at;  ///< up to when the rate has been used up
};

struct OperationStep {
  enum class What { act, wait, stop, finish };
  What what = What::wait;
  int limit = 0;         ///< of act: how many events at most
  Timestamp paced_at{};  ///< of act: the new `paced_at` if `limit` events are taken
  Duration wait_for{};   ///< of wait: when to look again
  std::string why;       ///< of stop: a sentence
};

/// Events that were replayed and have no outcome yet: never more than this at once.
inline constexpr int kOperationWindow = 1000;
/// The share of failures is not judged before this many outcomes, unless the canary is over.
inline constexpr int kOperationSample = 10;

/// Where a running or paused operation is.
enum class OperationPhase {
  canary,    ///< the first few, and the wait for their outcomes
  rest,      ///< the canary went well, or there was none
  settling,  ///< every event was taken; the last are being delivered
};
std::string_view name(OperationPhase phase);
/// None: it is planned or over.
std::optional<OperationPhase> phase_of(const OperationProgress& progress);

OperationStep next_step(const OperationProgress& progress, Timestamp now);

}  // namespace sluice
