// An attempt: one run of one handler at one event, as the attempt log keeps it. Pure.
//
// What is kept: every attempt that failed, every claim that expired, and the runs beside and behind them. Of an event
// that was delivered at once nothing is kept, unless a process is told to record successes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/settle.hpp"

namespace sluice {

/// How much of what an attempt said is kept.
inline constexpr std::size_t kAttemptErrorMaxBytes = 1024;
inline constexpr std::size_t kAttemptResponseMaxBytes = 512;

enum class AttemptOutcome {
  handled,
  failed,
  expired,  ///< the claim ran out, and nobody knows how far its worker came
};
/// The stable names, by AttemptOutcome.
inline constexpr std::array<std::string_view, 3> kAttemptOutcomes{"handled", "failed", "expired"};
constexpr std::string_view name(AttemptOutcome outcome) { return kAttemptOutcomes[static_cast<std::size_t>(outcome)]; }
AttemptOutcome attempt_outcome(std::string_view text);  ///< `failed` for what is none

struct Attempt {
  std::string handler_name;  ///< empty: not known, as of a claim that expired with several handlers
  std::string worker;        ///< who held the claim
  Timestamp started_at{};    ///< the store's clock
  Duration took{};
  AttemptOutcome outcome = AttemptOutcome::failed;
  int status_code = 0;   ///< what the receiver of a delivery answered; 0: none
  std::string error;     ///< `http_503: …`, cut
  std::string response;  ///< the beginning of what the receiver said
  std::string trace_id;  ///< 32 hexadecimal digits; empty: the event belongs to no trace

  bool operator==(const Attempt&) const = default;
};

/// What an outcome leaves in the log; the rest is filled in by who ran it. None: no attempt was made, or it was not
/// finished.
std::optional<Attempt> attempt_of(const Outcome& outcome);

/// The trace that a W3C traceparent belongs to; empty for none.
std::string trace_id_of(std::string_view traceparent);

/// What one settle adds to the log, as both stores read it: an array of objects.
class AttemptList {
 public:
  void add(const Uuid& event_id, std::int64_t claim_seq, const Attempt& attempt);
  [[nodiscard]] bool empty() const { return elements_.empty(); }
  [[nodiscard]] std::string json() const;

 private:
  std::vector<std::string> elements_;
};

}  // namespace sluice
