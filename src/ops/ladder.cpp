#include "ops/ladder.hpp"

#include <array>
#include <cstdio>

#include "core/json_object.hpp"
#include "core/try.hpp"

namespace sluice::ops {
namespace {

std::string with_unit(double value, std::string_view unit) {
  std::array<char, 64> text{};
  if (unit == "share") {
    std::snprintf(text.data(), text.size(), "%.0f %%", value * 100);
  } else if (unit == "seconds") {
    std::snprintf(text.data(), text.size(), value < 10 ? "%.3f s" : "%.0f s", value);
  } else {
    std::snprintf(text.data(), text.size(), value >= 1e6 ? "%.1fM rows" : "%.0f rows",
                  value >= 1e6 ? value / 1e6 : value);
  }
  return text.data();
}

std::string to_json(const LadderTrigger& trigger) {
  return JsonObject{}
      .text("trigger", name(trigger.id))
      .text("unit", trigger.unit)
      .raw("value", trigger.value ? json_decimal(*trigger.value) : "null")
      .raw("threshold", json_decimal(trigger.threshold))
      .time("since", trigger.since)
      .boolean("due", trigger.due)
      .text("step", name(trigger.step))
      .str();
}

std::string due_json(const LadderVerdict& verdict) {
  if (!verdict.due) return "null";
  return JsonObject{}
      .text("step", name(*verdict.due))
      .text("command", command(*verdict.due))
      .text("cost", cost(*verdict.due))
      .str();
}

}  // namespace

LadderStage stage_of(const store::Diagnosis& diagnosis, const store::Capabilities& capabilities,
                     const store::RelaySwitch& relay) {
  const bool partitioned = diagnosis.server && diagnosis.server->outbox && diagnosis.server->outbox->partitioned;
  return {capabilities.embedded, partitioned, !relay.claims_here()};
}

std::string_view name(const LadderStage& stage) {
  if (stage.embedded) return "embedded";
  if (stage.relayed) return "relayed";
  return stage.partitioned ? "partitioned" : "one_table";
}

Result<LadderReport> report_ladder(store::Observing& store) {
  SLUICE_TRY(auto history, store.ladder_history());
  SLUICE_TRY(const auto diagnosis, store.diagnose(store::DiagnosisDepth::glance));
  SLUICE_TRY(const auto relay, store.relay());
  SLUICE_TRY(const auto now, store.now());
  const LadderStage stage = stage_of(diagnosis, store.capabilities(), relay);
  return LadderReport{store.display_name(), now, stage, judge_ladder(std::move(history), stage, now)};
}

std::string value_text(const LadderTrigger& trigger) {
  return trigger.value ? with_unit(*trigger.value, trigger.unit) : "-";
}

std::string threshold_text(const LadderTrigger& trigger) { return with_unit(trigger.threshold, trigger.unit); }

std::string to_json(const LadderReport& report) {
  std::vector<std::string> triggers;
  for (const LadderTrigger& trigger : report.verdict.triggers) triggers.push_back(to_json(trigger));
  return JsonObject{}
      .text("store", report.store)
      .time("now", report.now)
      .text("stage", name(report.stage))
      .time("known_since", report.verdict.known_since)
      .raw("due", due_json(report.verdict))
      .text("why", report.verdict.why)
      .array("triggers", triggers)
      .str();
}

}  // namespace sluice::ops
