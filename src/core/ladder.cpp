#include "core/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/words.hpp"

namespace sluice {
namespace {

constexpr double kManyRows = 5e6;
constexpr double kTooManyRows = 20e6;
constexpr double kSlowSeconds = 0.5;
constexpr double kFullQueue = 0.25;
constexpr double kLongSnapshotSeconds = 3600;
constexpr double kManyDeadRows = 5e6;

constexpr Duration kHour = std::chrono::hours{1};
constexpr Duration kDay = std::chrono::hours{24};

/// What one span of time says about a trigger.
struct Reading {
  Timestamp at{};               ///< its beginning
  std::optional<double> value;  ///< none: it says neither yes nor no
};

template <class Member>
std::vector<Reading> hourly(const std::vector<LadderSample>& samples, Member member) {
  std::vector<Reading> readings;
  for (const LadderSample& sample : samples) {
    const auto& value = sample.*member;
    readings.push_back({sample.hour, value ? std::optional{static_cast<double>(*value)} : std::nullopt});
  }
  return readings;
}

// A night with three events says nothing about a p99: hours are judged together, a day at a time, counted back from the
// newest sample. What is left over of the oldest day belongs to the day after it.
std::vector<Reading> daily_p99(const std::vector<LadderSample>& samples) {
  struct Day {
    Timestamp begins{};
    LadderSample sum;
  };
  std::vector<Day> days;  // the newest first
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
    if (days.empty() || sample->hour < days.back().begins) days.push_back({sample->hour + kHour - kDay, {}});
    days.back().sum.hour = sample->hour;
    add(days.back().sum, {.latencies = sample->latencies});
  }
  if (days.size() > 1 && days.back().sum.hour > days.back().begins) {
    Day& whole = days[days.size() - 2];
    whole.sum.hour = days.back().sum.hour;
    add(whole.sum, {.latencies = days.back().sum.latencies});
    days.pop_back();
  }
  std::vector<Reading> readings;
  for (auto day = days.rbegin(); day != days.rend(); ++day) {
    readings.push_back({day->sum.hour, ladder_quantile(day->sum.latencies, 0.99)});
  }
  return readings;
}

/// Since when it has been above the threshold without a break; none: it is not. A reading without a value neither
/// begins nor ends it.
std::optional<Timestamp> above_since(const std::vector<Reading>& readings, double threshold) {
  std::optional<Timestamp> since;
  for (auto reading = readings.rbegin(); reading != readings.rend(); ++reading) {
    if (!reading->value) continue;
    if (*reading->value <= threshold) break;
    since = reading->at;
  }
  return since;
}

std::optional<double> latest(const std::vector<Reading>& readings) {
  for (auto reading = readings.rbegin(); reading != readings.rend(); ++reading) {
    if (reading->value) return reading->value;
  }
  return std::nullopt;
}

LadderTrigger steady(LadderTrigger trigger, const std::vector<Reading>& readings, Timestamp now) {
  trigger.value = latest(readings);
  trigger.since = above_since(readings, trigger.threshold);
  trigger.due = trigger.since && now - *trigger.since >= kLadderWindow;
  return trigger;
}

// One is enough, and it is remembered for as long as the window.
LadderTrigger incident(LadderTrigger trigger, const std::vector<Reading>& readings, Timestamp now) {
  for (const Reading& reading : readings) {
    if (!reading.value || now - reading.at > kLadderWindow) continue;
    trigger.value = std::max(trigger.value.value_or(*reading.value), *reading.value);
    if (*reading.value > trigger.threshold) trigger.since = reading.at;
  }
  trigger.due = trigger.since.has_value();
  return trigger;
}

/// By time, without those from the future and those before the newest gap.
std::vector<LadderSample> unbroken(std::vector<LadderSample> samples, Timestamp now) {
  std::erase_if(samples, [&](const LadderSample& sample) { return sample.hour > now; });
  std::sort(samples.begin(), samples.end(), [](const auto& one, const auto& other) { return one.hour < other.hour; });
  Timestamp next = now;
  std::size_t first = samples.size();
  // A sample stands for the whole of its hour.
  while (first > 0 && next - (samples[first - 1].hour + kHour) <= kLadderGap) next = samples[--first].hour;
  samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(first));
  return samples;
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  if (value >= 1e6) {
    std::snprintf(text.data(), text.size(), "%.1fM", value / 1e6);
  } else {
    std::snprintf(text.data(), text.size(), value >= 100 || value == std::floor(value) ? "%.0f" : "%.2f", value);
  }
  return text.data();
}

std::string reason(const LadderTrigger& trigger) {
  const std::string value = short_number(trigger.value.value_or(0));
  switch (trigger.id) {
    case LadderTriggerId::rows:
    case LadderTriggerId::rows_partitioned:
      return "the outbox has kept more than " + short_number(trigger.threshold) + " rows for a week (now " + value +
             ")";
    case LadderTriggerId::latency:
      return "the p99 from publishing to handling was above 500 ms on every day of a week (now " + value + " s)";
    case LadderTriggerId::notify_queue:
      return "the NOTIFY queue was " + short_number(trigger.value.value_or(0) * 100) + " % full within the last week";
    case LadderTriggerId::held_snapshot:
      return "a snapshot was held for " + short_number(trigger.value.value_or(0) / 3600) +
             " hours within the last week, which slows down every claim";
    case LadderTriggerId::bloat:
      return "the outbox had " + value + " dead rows within the last week";
  }
  return {};
}

std::string nothing_due(const LadderVerdict& verdict, const LadderStage& stage, Timestamp now) {
  for (const LadderTrigger& trigger : verdict.triggers) {
    if (!trigger.since) continue;
    const bool taken = stage.relayed && trigger.step == LadderStep::relay;
    return std::string{name(trigger.id)} + " is above its threshold, but " +
           (taken ? "a broker carries the deliveries already" : "not yet for a week");
  }
  if (stage.relayed) return "a broker carries the deliveries; no trigger is above its threshold";
  if (now - verdict.known_since < kLadderWindow) {
    return "no trigger is above its threshold; the history is shorter than a week";
  }
  return "no trigger is above its threshold";
}

}  // namespace

void add(LadderSample& sample, const LadderSample& later) {
  if (later.rows) sample.rows = later.rows;
  sample.latencies.resize(std::max(sample.latencies.size(), later.latencies.size()));
  for (std::size_t at = 0; at < later.latencies.size(); ++at) sample.latencies[at] += later.latencies[at];
  // None is less than any.
  sample.notify_queue = std::max(sample.notify_queue, later.notify_queue);
  sample.snapshot_seconds = std::max(sample.snapshot_seconds, later.snapshot_seconds);
  sample.dead_rows = std::max(sample.dead_rows, later.dead_rows);
}

std::string_view name(LadderStep step) {
  switch (step) {
    case LadderStep::partition:
      return "partition";
    case LadderStep::relay:
      return "relay";
    case LadderStep::postgres:
      return "move";
  }
  return "";
}

std::string_view command(LadderStep step) {
  switch (step) {
    case LadderStep::partition:
      return "sluice ladder partition";
    case LadderStep::relay:
      return "sluice ladder relay nats|redis";
    case LadderStep::postgres:
      return "sluice move --from sqlite:FILE --to postgres://USER@HOST/DATABASE";
  }
  return "";
}

std::string_view cost(LadderStep step) {
  switch (step) {
    case LadderStep::partition:
      return "Monthly partitions of core.outbox, made online: the disk space of one more unique index, and one lock of "
             "milliseconds. Retention then drops whole months. Publishers, handlers and SQL stay as they are.";
    case LadderStep::relay:
      return "A broker to run and to watch (NATS JetStream or Redis). Producers keep writing core.outbox, handlers "
             "stay "
             "as they are; workers listen to the broker. It can be taken back.";
    case LadderStep::postgres:
      return "A PostgreSQL server to run. The file is copied while it is in use; publishers wait for the last seconds. "
             "It can be taken back until something new is written there.";
  }
  return "";
}

std::optional<double> ladder_quantile(const std::vector<std::int64_t>& latencies, double q) {
  std::int64_t count = 0;
  for (const std::int64_t bucket : latencies) count += bucket;
  if (count <= 0) return std::nullopt;
  const double wanted = q * static_cast<double>(count);
  double below = 0;
  for (std::size_t at = 0; at < latencies.size() && at < kLadderLatencyBounds.size(); ++at) {
    const auto here = static_cast<double>(latencies[at]);
    if (here > 0 && below + here >= wanted) {
      const double low = at == 0 ? 0 : kLadderLatencyBounds[at - 1];
      return low + (kLadderLatencyBounds[at] - low) * (wanted - below) / here;
    }
    below += here;
  }
  return kLadderLatencyBounds.back();
}

LadderVerdict judge_ladder(std::vector<LadderSample> samples, const LadderStage& stage, Timestamp now) {
  using Id = LadderTriggerId;
  samples = unbroken(std::move(samples), now);
  LadderVerdict verdict;
  verdict.known_since = samples.empty() ? now : samples.front().hour;
  const LadderStep next = stage.embedded ? LadderStep::postgres : LadderStep::relay;
  const auto rows = hourly(samples, &LadderSample::rows);
  if (stage.partitioned) {
    verdict.triggers.push_back(steady({Id::rows_partitioned, "rows", {}, kTooManyRows, {}, next}, rows, now));
  } else {
    const LadderStep first = stage.embedded ? LadderStep::postgres : LadderStep::partition;
    verdict.triggers.push_back(steady({Id::rows, "rows", {}, kManyRows, {}, first}, rows, now));
  }
  verdict.triggers.push_back(steady({Id::latency, "seconds", {}, kSlowSeconds, {}, next}, daily_p99(samples), now));
  if (!stage.embedded) {
    const auto seen = [&](LadderTrigger trigger, auto member) {
      verdict.triggers.push_back(incident(trigger, hourly(samples, member), now));
    };
    seen({Id::notify_queue, "share", {}, kFullQueue, {}, next}, &LadderSample::notify_queue);
    seen({Id::held_snapshot, "seconds", {}, kLongSnapshotSeconds, {}, next}, &LadderSample::snapshot_seconds);
    seen({Id::bloat, "rows", {}, kManyDeadRows, {}, next}, &LadderSample::dead_rows);
  }
  for (LadderTrigger& trigger : verdict.triggers) {
    if (stage.relayed && trigger.step == LadderStep::relay) trigger.due = false;  // the step is taken
    if (!trigger.due || verdict.due == LadderStep::partition) continue;
    if (!verdict.due || trigger.step == LadderStep::partition) {
      verdict.due = trigger.step;
      verdict.why = reason(trigger);
    }
  }
  if (!verdict.due) verdict.why = nothing_due(verdict, stage, now);
  return verdict;
}

}  // namespace sluice
