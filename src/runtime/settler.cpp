#include "runtime/settler.hpp"

#include <set>
#include <utility>

#include "runtime/service.hpp"

namespace sluice::runtime {

namespace {

std::string_view result_of(const Attempt& attempt) {
  if (attempt.deduplicated) return "deduplicated";
  switch (attempt.decision.settlement.next) {
    case Status::delivered:
      return "delivered";
    case Status::failed:
      return "failed";
    default:
      return attempt.decision.settlement.counts_attempt ? "retry" : "released";
  }
}

void count(const Attempt& attempt, StepReport& report) {
  switch (attempt.decision.settlement.next) {
    case Status::delivered:
      ++report.delivered;
      report.deduplicated += attempt.deduplicated ? 1 : 0;
      break;
    case Status::failed:
      ++report.failed;
      break;
    default:
      ++(attempt.decision.settlement.counts_attempt ? report.retried : report.released);
      break;
  }
}

telemetry::Level level_of(std::string_view result) {
  if (result == "failed") return telemetry::Level::error;
  if (result == "retry" || result == "fenced") return telemetry::Level::warn;
  return telemetry::Level::info;
}

}  // namespace

Settler::Settler(store::Claiming& store, telemetry::Logger logger, SettlerOptions options)
    : store_(store), logger_(std::move(logger)), options_(std::move(options)) {}

void Settler::add(Attempt attempt) { attempts_.push_back(std::move(attempt)); }

Result<StepReport> Settler::settle() {
  if (attempts_.empty()) return StepReport{};
  std::vector<store::SettleItem> items;
  items.reserve(attempts_.size());
  for (const Attempt& attempt : attempts_) items.push_back(attempt.decision);
  auto settled = store_.settle(items);
  if (!settled) {
    note_failure(settled.error());
    return std::move(settled).error();
  }
  const StepReport report = account(*settled);
  clear();
  return report;
}

void Settler::note_failure(const Error& error) {
  // Trying again is harmless also when the answer was lost: what was settled is fenced by then.
  in_doubt_ = in_doubt_ || error.retry == Retry::in_doubt;
  ++failures_;
  if (error.retry != Retry::never && failures_ < options_.settle_attempts) return;
  log_error(logger_, std::to_string(attempts_.size()) + " events could not be settled; their claims will expire",
            error);
  clear();
}

StepReport Settler::account(const store::SettleReport& settled) const {
  std::set<Uuid> fenced;
  // After a lost answer "fenced" most likely means that the lost call did the work.
  if (!in_doubt_) fenced.insert(settled.fenced.begin(), settled.fenced.end());
  StepReport report;
  report.claimed = static_cast<std::int64_t>(attempts_.size());
  for (const Attempt& attempt : attempts_) {
    const bool lost = fenced.contains(attempt.event.envelope.event_id());
    if (lost) {
      ++report.fenced;
    } else {
      count(attempt, report);
    }
    log(attempt, lost ? "fenced" : result_of(attempt));
  }
  return report;
}

void Settler::log(const Attempt& attempt, std::string_view result) const {
  const telemetry::Level level = level_of(result);
  if (!logger_.enabled(level)) return;
  const EventEnvelope& envelope = attempt.event.envelope;
  const Settlement& settlement = attempt.decision.settlement;
  const auto workspace = envelope.workspace_id();
  const std::vector<telemetry::LogField> fields{
      {"event_id", envelope.event_id().to_string()},
      {"event_type", envelope.event_type()},
      {"source", envelope.source()},
      {"target", envelope.target()},
      {"workspace_id", workspace ? std::optional{workspace->to_string()} : std::nullopt},
      {"attempts", attempt.event.attempts + (settlement.counts_attempt ? 1 : 0)},
      {"duration_ms", std::chrono::duration_cast<std::chrono::milliseconds>(attempt.took).count()},
      {"status_result", result},
      {"handler_name", options_.handler_name},
      {"last_error", settlement.counts_attempt ? std::optional{settlement.last_error} : std::nullopt},
  };
  logger_.with_trace_context(envelope.trace_context()).log(level, "event handled", fields);
}

void Settler::clear() {
  attempts_.clear();
  failures_ = 0;
  in_doubt_ = false;
}

}  // namespace sluice::runtime
