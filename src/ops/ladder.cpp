#include "ops/ladder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"

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

namespace {

using store::PartitionStep;

constexpr std::array kEvery{PartitionStep::constrain, PartitionStep::validate, PartitionStep::prepare,
                            PartitionStep::swap};
constexpr std::chrono::days kMargin{7};
/// A constraint that is left from an earlier run and ends so soon would refuse publishers before the swap is done.
constexpr std::chrono::days kTooNear{1};
constexpr std::chrono::milliseconds kFirstRest{100};
constexpr std::chrono::milliseconds kLongestRest{2000};

std::string sentence_of(PartitionStep step, const std::string& month) {
  switch (step) {
    case PartitionStep::constrain:
      return "1/4 constrain: events must occur before " + month + " until the swap is done";
    case PartitionStep::validate:
      return "2/4 validate: reading every event; publishers and workers go on";
    case PartitionStep::prepare:
      return "3/4 prepare: making the tables of " + month + " and the months after it";
    case PartitionStep::swap:
      return "4/4 swap: core.outbox becomes the oldest partition";
  }
  return {};
}

bool is_done(PartitionStep step, const store::PartitionLayout& layout) {
  switch (step) {
    case PartitionStep::constrain:
      return layout.boundary.has_value();
    case PartitionStep::validate:
      return layout.validated;
    case PartitionStep::prepare:
      return layout.prepared;
    case PartitionStep::swap:
      return layout.partitioned;
  }
  return true;
}

Result<void> check_possible(store::Administering& store) {
  if (!store.capabilities().partitions) {
    Error error = invalid("store", store.display_name() + " is one file and has no partitions: they need PostgreSQL");
    error.hint = "give --store postgres://…, or move the events there with `sluice move`";
    return error;
  }
  SLUICE_TRY(const std::vector<std::string> obstacles, store.partition_obstacles());
  if (obstacles.empty()) return {};
  return Error{ErrorCode::conflict, Retry::never, obstacles.front(), {}, {}};
}

/// What an earlier run chose holds, unless its time has nearly come.
Result<Timestamp> boundary_of(store::Administering& store, const PartitionOrder& order,
                              const store::PartitionLayout& layout) {
  SLUICE_TRY(const Timestamp now, store.now());
  const Timestamp wanted = order.boundary.value_or(layout.boundary.value_or(boundary_after(now)));
  if (wanted >= now + kTooNear) return wanted;
  if (!order.boundary) return boundary_after(now);
  return invalid("first-month", month_text(wanted) +
                                    " begins too soon: publishers would be refused before the swap is done; take " +
                                    month_text(boundary_after(now)) + " or later");
}

/// One step, again while somebody else has the table.
Result<bool> take(store::Administering& store, const store::PartitionRequest& request, const PartitionOrder& order,
                  const PartitionVoice& voice, PartitionReport& report) {
  Duration rest = kFirstRest;
  for (int tried = 1;; ++tried) {
    const auto start = std::chrono::steady_clock::now();
    const Result<void> taken = store.take_partition_step(request, order.actor);
    if (taken) {
      if (request.step == PartitionStep::swap) {
        report.longest_lock = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
      }
      report.taken.push_back(request.step);
      return true;
    }
    if (taken.error().code != ErrorCode::timeout) return taken.error();
    if (tried == order.tries) {
      Error error = taken.error();
      error.message += "; tried " + std::to_string(tried) + " times";
      error.code = ErrorCode::conflict;
      return error;
    }
    if (tried % 10 == 1) voice.say(taken.error().message + "; trying again");
    if (!voice.wait(rest)) return false;
    rest = std::min<Duration>(rest * 2, kLongestRest);
  }
}

Error beyond_boundary(Error error, const std::string& month) {
  if (error.code != ErrorCode::invalid) return error;
  error.field = "first-month";
  error.message = "some events occurred in " + month + " or later, so that month cannot be the first of its own";
  error.hint = "give --first-month a later one; `select max(occurred_at) from core.outbox` tells which";
  return error;
}

}  // namespace

Timestamp boundary_after(Timestamp now) {
  const std::chrono::year_month_day day{std::chrono::ceil<std::chrono::days>(now + kMargin)};
  const auto month = day.year() / day.month();
  return Timestamp{
      std::chrono::sys_days{(day.day() == std::chrono::day{1} ? month : month + std::chrono::months{1}) / 1}};
}

Result<Timestamp> parse_month(std::string_view text, const std::string& field) {
  int year = 0;
  unsigned month = 0;
  const char* const end = text.data() + text.size();
  const auto years = std::from_chars(text.data(), end, year);
  const bool dashed = years.ec == std::errc{} && years.ptr - text.data() == 4 && years.ptr != end && *years.ptr == '-';
  const auto months = dashed ? std::from_chars(years.ptr + 1, end, month) : years;
  const std::chrono::year_month_day first{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{1}};
  if (!dashed || months.ec != std::errc{} || months.ptr != end || text.size() != 7 || !first.ok()) {
    return invalid(field, "expected a month such as 2026-12, got " + std::string{text});
  }
  return Timestamp{std::chrono::sys_days{first}};
}

std::string month_text(Timestamp at) { return to_iso8601(at).substr(0, 7); }

Result<PartitionReport> partition_events(store::Administering& store, const PartitionOrder& order,
                                         const PartitionVoice& voice) {
  SLUICE_CHECK(check_optional_reason(order.actor.reason));
  if (!store.capabilities().partitions) SLUICE_CHECK(check_possible(store));
  SLUICE_TRY(store::PartitionLayout layout, store.partition_layout());
  PartitionReport report;
  if (layout.partitioned) {
    report.already = true;
    return report;
  }
  SLUICE_CHECK(check_possible(store));
  SLUICE_TRY(report.boundary, boundary_of(store, order, layout));
  if (layout.boundary && *layout.boundary != report.boundary) {
    voice.say("the boundary of an earlier run is given up for " + month_text(report.boundary));
    SLUICE_CHECK(store.abandon_partition(order.actor));
    SLUICE_TRY(layout, store.partition_layout());
  }
  const std::string month = month_text(report.boundary);
  for (const PartitionStep step : kEvery) {
    if (is_done(step, layout)) continue;
    voice.say(sentence_of(step, month));
    const store::PartitionRequest request{step, report.boundary, store::kMonthsAhead};
    const Result<bool> taken = take(store, request, order, voice, report);
    if (!taken) {
      if (step != PartitionStep::validate || taken.error().code != ErrorCode::invalid) return taken.error();
      // It would refuse publishers for nothing.
      SLUICE_CHECK(store.abandon_partition(order.actor));
      return beyond_boundary(taken.error(), month);
    }
    report.interrupted = !*taken || !voice.wait(Duration::zero());
    if (report.interrupted && step != PartitionStep::swap) return report;
  }
  report.interrupted = false;
  return report;
}

Result<std::vector<PlannedStep>> plan_partition(store::Administering& store, const PartitionOrder& order) {
  if (!store.capabilities().partitions) SLUICE_CHECK(check_possible(store));
  std::vector<PlannedStep> plan;
  SLUICE_TRY(const store::PartitionLayout layout, store.partition_layout());
  if (layout.partitioned) return plan;
  SLUICE_CHECK(check_possible(store));
  SLUICE_TRY(const Timestamp boundary, boundary_of(store, order, layout));
  for (const PartitionStep step : kEvery) {
    if (layout.boundary == boundary && is_done(step, layout)) continue;
    SLUICE_TRY(auto sql, store.partition_sql({step, boundary, store::kMonthsAhead}));
    plan.push_back({step, std::move(sql)});
  }
  return plan;
}

Result<void> abandon_partition(store::Administering& store, const store::Actor& actor) {
  if (!store.capabilities().partitions) return check_possible(store);
  return store.abandon_partition(actor);
}

std::string to_json(const PartitionReport& report) {
  std::vector<std::string> taken;
  for (const PartitionStep step : report.taken) taken.push_back(json::quote(store::name(step)));
  JsonObject json;
  json.boolean("partitioned", report.already || (!report.taken.empty() && report.taken.back() == PartitionStep::swap));
  json.boolean("already", report.already).boolean("interrupted", report.interrupted);
  if (!report.already) json.text("first_month", month_text(report.boundary));
  return json.array("steps", taken)
      .number("swap_ms", std::chrono::duration_cast<std::chrono::milliseconds>(report.longest_lock).count())
      .str();
}

std::string to_json(const std::vector<PlannedStep>& plan) {
  std::vector<std::string> steps;
  for (const PlannedStep& one : plan) {
    std::vector<std::string> sql;
    for (const std::string& statement : one.sql) sql.push_back(json::quote(statement));
    steps.push_back(JsonObject{}.text("step", store::name(one.step)).array("sql", sql).str());
  }
  return JsonObject{}.boolean("dry_run", true).array("steps", steps).str();
}

std::string to_json(const store::Partition& partition) {
  return JsonObject{}
      .text("name", partition.name)
      .time("since", partition.since)
      .time("until", partition.until)
      .boolean("default", partition.is_default)
      .number("rows", partition.rows)
      .number("bytes", partition.bytes)
      .text("note", partition.note)
      .str();
}

}  // namespace sluice::ops
