// The ladder: when one table is not enough any more, judged from hourly samples. Pure: samples in, verdicts out.
//
// Steady means: in every sample of a whole week, and samples that are there. A gap in the history says nothing, so it
// ends what held before it; a sample from the future is one that a clock took which has been set back, and does not
// count.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>

namespace sluice {

/// Seconds: the upper bounds of the buckets of LadderSample::latencies; one more bucket is above the last.
inline constexpr std::array kLadderLatencyBounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,   0.5,
                                                 1.0,   2.0,   5.0,   10.0, 30.0, 60.0, 300., 1800., 7200.};

inline constexpr Duration kLadderWindow = std::chrono::hours{24 * 7};
inline constexpr Duration kLadderGap = std::chrono::hours{3};         ///< longer between two samples: nobody knows
inline constexpr Duration kLadderKept = std::chrono::hours{24 * 35};  ///< samples that are older are forgotten

/// One hour, over all processes: what they add together merges by add().
struct LadderSample {
  Timestamp hour{};
  std::optional<std::int64_t> rows;  ///< kept in the outbox, an estimate; the latest of the hour
  /// Events that were delivered at their first attempt, by the time since they were published: what was scheduled,
  /// retried or replayed waited for other reasons. Empty: none.
  std::vector<std::int64_t> latencies;
  std::optional<double> notify_queue;            ///< 0 to 1, the highest
  std::optional<std::int64_t> snapshot_seconds;  ///< how long the oldest snapshot has been held, the longest
  std::optional<std::int64_t> dead_rows;         ///< of the outbox, the most
};

/// Both of one hour; `later` is the newer one.
void add(LadderSample& sample, const LadderSample& later);

enum class LadderStep { partition, relay, postgres };
std::string_view name(LadderStep step);  ///< `partition`, `relay`, `move`
std::string_view command(LadderStep step);
/// What it takes and what it costs, in two or three sentences.
std::string_view cost(LadderStep step);

enum class LadderTriggerId { rows, rows_partitioned, latency, notify_queue, held_snapshot, bloat };
/// The stable names, by LadderTriggerId.
inline constexpr std::array<std::string_view, 6> kLadderTriggers{"rows",         "rows_partitioned", "latency_p99",
                                                                 "notify_queue", "held_snapshot",    "bloat"};
constexpr std::string_view name(LadderTriggerId id) { return kLadderTriggers[static_cast<std::size_t>(id)]; }

struct LadderTrigger {
  LadderTriggerId id = LadderTriggerId::rows;
  std::string_view unit;           ///< rows, seconds, share
  std::optional<double> value;     ///< now, or over the window; none: nothing was measured
  double threshold = 0;            ///< above it
  std::optional<Timestamp> since;  ///< it has been above ever since; of an incident: when it was last
  LadderStep step = LadderStep::relay;
  bool due = false;  ///< the step is: it was above for the whole window, or an incident happened within it
};

/// What the store is now.
struct LadderStage {
  bool embedded = false;
  bool partitioned = false;
  bool relayed = false;  ///< a broker carries the deliveries
};

struct LadderVerdict {
  std::vector<LadderTrigger> triggers;  ///< those that this store has
  std::optional<LadderStep> due;        ///< the lower one first: partitions are cheap
  std::string why;                      ///< one sentence, whether or not a step is due
  Timestamp known_since{};              ///< the history goes back to here without a gap; now: there is none
};

/// `samples` in any order.
LadderVerdict judge_ladder(std::vector<LadderSample> samples, const LadderStage& stage, Timestamp now);

/// The value below which the share `q` of what was counted lies, taken as evenly spread within its bucket; what is
/// above the last bound counts as the last bound. None: nothing was counted.
std::optional<double> ladder_quantile(const std::vector<std::int64_t>& latencies, double q);

}  // namespace sluice
