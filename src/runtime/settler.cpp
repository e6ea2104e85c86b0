#include "runtime/settler.hpp"

#include <set>
#include <utility>

#include "core/try.hpp"
#include "runtime/service.hpp"
#include "runtime/trace.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::runtime {
namespace {

std::string_view result_of(const Work& work) {
  switch (work.decision.settlement.next) {
    case Status::delivered:
      return "delivered";
    case Status::failed:
      return "failed";
    default:
      return work.decision.settlement.cause == Cause::retry ? "retry" : "released";
  }
}

// One handler's own part in it, for its line in the log.
std::string_view result_of(const HandlerNote& note, std::string_view event_result) {
  if (event_result == "fenced") return event_result;
  if (note.deduplicated) return "deduplicated";
  switch (note.outcome.kind) {
    case Outcome::Kind::handled:
      return event_result == "delivered" ? "delivered" : "handled";
    case Outcome::Kind::failed:
      return event_result == "failed" ? "failed" : "retry";
    default:
      return "released";
  }
}

void count(const Work& work, StepReport& report) {
  for (const HandlerNote& note : work.notes) {
    if (note.outcome.kind == Outcome::Kind::failed) ++report.failures_by_class[effective_class(note.outcome.failure)];
  }
  const bool deduplicated = !work.has_run() && !work.notes.empty();
  switch (work.decision.settlement.next) {
    case Status::delivered:
      ++report.delivered;
      report.deduplicated += deduplicated ? 1 : 0;
      break;
    case Status::failed:
      ++report.failed;
      break;
    default:
      ++(work.decision.settlement.cause == Cause::retry ? report.retried : report.released);
      break;
  }
}

int attempts_after(const Work& work) { return work.event.attempts + (work.decision.settlement.counts_attempt ? 1 : 0); }

telemetry::Level level_of(std::string_view result) {
  if (result == "failed") return telemetry::Level::error;
  if (result == "retry" || result == "fenced") return telemetry::Level::warn;
  return telemetry::Level::info;
}

std::string_view message_of(std::string_view result) {
  if (result == "retry") return "delivery failed, will retry";
  if (result == "failed") return "delivery failed";
  return "event handled";
}

// Whose failure the event's last_error tells of: one that ran now, or one that was out of attempts before.
std::string culprit(const Work& work) {
  const Settlement& settlement = work.decision.settlement;
  for (const HandlerProgress& progress : settlement.progress) {
    if (progress.out_of_attempts && progress.last_error == settlement.last_error) return progress.handler_name;
  }
  for (const HandlerNote& note : work.notes) {
    if (note.outcome.kind == Outcome::Kind::failed) return note.handler_name;
  }
  return {};
}

FailureNotice notice_of(const Work& work) {
  const EventEnvelope& envelope = work.event.envelope;
  const Settlement& settlement = work.decision.settlement;
  FailureNotice notice;
  notice.event_id = envelope.event_id();
  notice.event_type = envelope.event_type();
  notice.source = envelope.source();
  notice.target = envelope.target();
  notice.workspace_id = envelope.workspace_id();
  notice.generation = work.event.generation;
  notice.handler_name = culprit(work);
  notice.error_class = settlement.error_class;
  notice.fingerprint = settlement.fingerprint;
  notice.last_error = settlement.last_error;
  notice.attempts = attempts_after(work);
  notice.trace_context = envelope.trace_context();
  notice.failed_at = work.store_now();
  return notice;
}

}  // namespace

Settler::Settler(store::Claiming& store, RegistryView& registry, const HandlerSet& handlers, telemetry::Logger logger,
                 SettlerOptions options)
    : store_(store),
      registry_(registry),
      handlers_(handlers),
      logger_(std::move(logger)),
      options_(std::move(options)),
      observer_(options_.metrics, options_.history) {}

void Settler::add(Work&& work) { works_.push_back(std::move(work)); }

Result<store::SettleReport> Settler::try_settle() {
  const auto registry = registry_.current();
  RouteMemo routes{*registry};
  std::vector<store::SettleItem> items;
  items.reserve(works_.size());
  for (Work& work : works_) {
    decide_work(work, {*registry, routes, handlers_, options_.attempts});
    items.push_back(std::move(work.decision));
  }
  const auto span = trace_settle(options_.tracer, works_);
  const auto begun = std::chrono::steady_clock::now();
  auto settled = store_.settle(items, registry->version);
  if (!settled) telemetry::note_error(span.get(), settled.error());
  observer_.answered(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun));
  for (std::size_t i = 0; i < items.size(); ++i) works_[i].decision = std::move(items[i]);
  return settled;
}

Result<StepReport> Settler::settle() {
  if (works_.empty()) return StepReport{};
  auto settled = try_settle();
  if (!settled && store::is_registry_changed(settled.error())) {
    SLUICE_CHECK(registry_.refresh());
    settled = try_settle();
  }
  if (!settled) {
    note_failure(settled.error());
    return std::move(settled).error();
  }
  const StepReport report = account(works_, *settled, in_doubt_);
  clear();
  return report;
}

void Settler::note_failure(const Error& error) {
  // Trying again is harmless also when the answer was lost: what was settled is fenced by then.
  in_doubt_ = in_doubt_ || error.retry == Retry::in_doubt;
  ++failures_;
  if (error.retry != Retry::never && failures_ < options_.settle_attempts) return;
  log_error(logger_, std::to_string(works_.size()) + " events could not be settled; their claims will expire", error);
  clear();
}

StepReport Settler::account(std::span<const Work> works, const store::SettleReport& settled, bool in_doubt) {
  std::set<Uuid> fenced;
  // After a lost answer "fenced" most likely means that the lost call did the work.
  if (!in_doubt) fenced.insert(settled.fenced.begin(), settled.fenced.end());
  const auto now = std::chrono::steady_clock::now();
  StepReport report;
  report.claimed = static_cast<std::int64_t>(works.size());
  for (const Work& work : works) {
    const bool lost = fenced.contains(work.event.claim.event_id);
    if (lost) {
      ++report.fenced;
    } else {
      count(work, report);
    }
    const bool failed = !lost && work.decision.settlement.next == Status::failed;
    if (failed && options_.on_failed) options_.on_failed(notice_of(work));
    observer_.saw(work, lost, now);
    if (options_.on_settled) options_.on_settled(work, lost);
    log(work, lost ? "fenced" : result_of(work));
  }
  observer_.counted(report);
  return report;
}

void Settler::log(const Work& work, std::string_view result) const {
  const EventEnvelope& envelope = work.event.envelope;
  for (const HandlerNote& note : work.notes) {
    const std::string_view own_result = result_of(note, result);
    const telemetry::Level level = level_of(own_result);
    if (!logger_.enabled(level)) continue;
    const bool failed = note.outcome.kind == Outcome::Kind::failed;
    const auto& workspace = envelope.workspace_id();
    const std::vector<telemetry::LogField> fields{
        {"event_id", envelope.event_id().to_string()},
        {"event_type", envelope.event_type()},
        {"source", envelope.source()},
        {"target", envelope.target()},
        {"workspace_id", workspace ? std::optional{workspace->to_string()} : std::nullopt},
        {"attempts", attempts_after(work)},
        {"duration_ms", std::chrono::duration_cast<std::chrono::milliseconds>(note.time.took).count()},
        {"status_result", own_result},
        {"handler_name", note.handler_name},
        {"last_error", failed ? std::optional{note.outcome.failure.last_error()} : std::nullopt},
    };
    const auto& logger = note.traceparent.empty() ? logger_.with_trace_context(envelope.trace_context())
                                                  : logger_.with_span(note.traceparent);
    logger.log(level, message_of(own_result), fields);
  }
}

void Settler::clear() {
  works_.clear();
  failures_ = 0;
  in_doubt_ = false;
}

}  // namespace sluice::runtime
