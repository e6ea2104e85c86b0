#include "ops/overview_history.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/words.hpp"
#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

void merge(OverviewPoint& into, const OverviewPoint& point) {
  into.backlog = std::max(into.backlog, point.backlog);
  into.lag_seconds = std::max(into.lag_seconds, point.lag_seconds);
  into.published += point.published;
  into.delivered += point.delivered;
  into.failed += point.failed;
  if (into.latencies.empty()) {
    into.latencies = point.latencies;
    return;
  }
  for (std::size_t at = 0; at < point.latencies.size(); ++at) into.latencies[at] += point.latencies[at];
}

constexpr Duration kTogether = std::chrono::minutes{10};

/// A member of the record's detail as text, without quotes; empty when it is not there.
std::string detail(const store::AuditRecord& record, std::string_view name) {
  const auto members = json::members(record.detail, "detail");
  if (!members) return {};
  for (const json::Member& member : *members) {
    if (member.name != name) continue;
    const auto text = json::string_value(member.value, name);
    return text ? *text : std::string{member.value};
  }
  return {};
}

OverviewMark generation_mark(const store::AuditRecord& record) {
  const std::string verb = record.action.substr(std::string_view{"generation."}.size());
  std::string text = "generation " + detail(record, "generation") + ": " + verb;
  if (verb == "reroute") {
    text = counted(record.count, "event") + " rerouted from generation " + detail(record, "from") + " to " +
           detail(record, "to");
  }
  return {record.at, "generation", text + " by " + record.actor.name, "/generations"};
}

/// Replays of single events that belong together.
struct Singles {
  const store::AuditRecord* newest = nullptr;
  const store::AuditRecord* oldest = nullptr;
  std::int64_t count = 0;

  [[nodiscard]] bool takes(const store::AuditRecord& record) const {
    return newest != nullptr && record.actor.name == newest->actor.name && newest->at - record.at < kTogether;
  }
  [[nodiscard]] OverviewMark mark() const {
    const bool one = count == 1 && newest->event_id;
    return {oldest->at, "replay", counted(count, "event") + " replayed by " + newest->actor.name,
            one ? "/events/" + newest->event_id->to_string() : "/audit?action=replay"};
  }
};

}  // namespace

OverviewHistory::OverviewHistory(Duration step, Duration kept)
    : step_(step), most_(static_cast<std::size_t>(kept / step)) {}

void OverviewHistory::add(OverviewPoint point) {
  // A clock that was set back must not make time run backwards in a chart.
  while (!points_.empty() && points_.back().at >= point.at) points_.pop_back();
  points_.push_back(std::move(point));
  if (points_.size() > most_) points_.pop_front();
}

OverviewSeries OverviewHistory::series(Timestamp now, Duration window, std::size_t most) const {
  const auto steps = std::max<Duration::rep>(window / step_, 1);
  const auto together = (steps + static_cast<Duration::rep>(most) - 1) / static_cast<Duration::rep>(most);
  OverviewSeries series{step_ * together, {}};
  // Aligned to the clock, so that points do not change their partners from one answer to the next.
  const auto slot = [&](Timestamp at) { return at.time_since_epoch() / series.interval; };
  std::optional<Duration::rep> current;
  for (const OverviewPoint& point : points_) {
    if (point.at <= now - window || point.at > now) continue;
    if (current == slot(point.at)) {
      merge(series.points.back(), point);
      continue;
    }
    current = slot(point.at);
    series.points.push_back(point);
    if (together > 1) series.points.back().at = Timestamp{series.interval * *current};
  }
  // The window may begin in the middle of a slot.
  if (series.points.size() > most) series.points.erase(series.points.begin());
  return series;
}

std::optional<double> quantile(std::span<const double> bounds, std::span<const std::uint64_t> counts, double q) {
  assert(!bounds.empty() && counts.size() == bounds.size() + 1);
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (total == 0) return std::nullopt;
  const double wanted = q * static_cast<double>(total);
  double below = 0;
  for (std::size_t at = 0; at < bounds.size(); ++at) {
    const auto here = static_cast<double>(counts[at]);
    if (here > 0 && below + here >= wanted) {
      const double lower = at == 0 ? 0 : bounds[at - 1];
      return lower + (bounds[at] - lower) * (wanted - below) / here;
    }
    below += here;
  }
  return bounds.back();
}

std::vector<OverviewMark> marks_of(const std::vector<store::AuditRecord>& records) {
  std::vector<OverviewMark> marks;
  Singles singles;
  const auto close = [&] {
    if (singles.count > 0) marks.push_back(singles.mark());
    singles = {};
  };
  for (const store::AuditRecord& record : records) {
    if (record.action.starts_with("generation.")) {
      marks.push_back(generation_mark(record));
    } else if (record.action == "replay.bulk") {
      marks.push_back({record.at, "replay", "replay of " + counted(record.count, "event") + " by " + record.actor.name,
                       "/operations/" + detail(record, "operation_id")});
    } else if (record.action == "replay") {
      if (!singles.takes(record)) {
        close();
        singles.newest = &record;
      }
      singles.oldest = &record;
      ++singles.count;
    }
  }
  close();
  std::stable_sort(marks.begin(), marks.end(),
                   [](const OverviewMark& left, const OverviewMark& right) { return left.at < right.at; });
  return marks;
}

std::string to_json(const OverviewMark& mark) {
  return JsonObject{}.time("at", mark.at).text("kind", mark.kind).text("text", mark.text).text("link", mark.link).str();
}

}  // namespace sluice::ops
