#include "ops/overview_marks.hpp"

#include <algorithm>
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/words.hpp"
#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

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
