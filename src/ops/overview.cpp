#include "ops/overview.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/ladder.hpp"
#include "ops/metrics_store.hpp"
#include "ops/sinks.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

GenerationSurvey survey_of(const Sight& sight) {
  std::map<Generation, GenerationStatus> rows;
  for (const store::GenerationGauges& one : sight.gauges.generations) {
    GenerationStatus& row = rows[one.generation];
    row.pending = one.due + one.waiting;
    row.waiting = one.waiting;
    row.in_flight = one.in_flight;
    row.failed = one.dead;
    row.oldest_pending = one.oldest_due;
  }
  for (const store::Deployment& deployment : sight.deployments) rows[deployment.generation].state = deployment.state;
  for (const store::WorkerRecord& worker : sight.workers) ++rows[worker.generation].workers;
  GenerationSurvey survey{sight.gauges.now, {}, sight.deployments, sight.workers, 0};
  for (auto& [generation, row] : rows) {
    row.generation = generation;
    survey.generations.push_back(row);
  }
  return survey;
}

constexpr Duration kMinute = std::chrono::minutes{1};
constexpr int kAuditLook = 200;
// Looking for events that nobody wants reads all that is pending, or more: only where that is little.
constexpr std::int64_t kMostRowsToRead = 100'000;
constexpr double kPatienceSeconds = 60;

std::int64_t grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? static_cast<std::int64_t>(after - before) : 0;
}

double lag_of(const store::StoreGauges& gauges) {
  double lag = 0;
  for (const auto& one : gauges.generations) lag = std::max(lag, oldest_age_seconds(one, gauges.now));
  return lag;
}

// A clock that was set back must not stop everything until it has caught up.
bool is_time(std::optional<Timestamp> last, Duration interval, Timestamp now) {
  return !last || now - *last >= interval || now < *last;
}

}  // namespace

std::vector<Finding> attention(const Sight& sight) {
  DoctorFacts facts;
  facts.store = sight.store;
  facts.retention = sight.retention;
  facts.dead_letter_levels = sight.dead_letter_levels;
  if (sight.diagnosis) facts.diagnosis = *sight.diagnosis;
  facts.now = sight.gauges.now;
  facts.survey = survey_of(sight);
  facts.stopped_sinks = sight.stopped_sinks;
  facts.unsubscribed = sight.unsubscribed;
  facts.ladder = sight.ladder;
  std::int64_t dead = 0;
  for (const store::GenerationGauges& one : sight.gauges.generations) dead += one.dead;
  facts.dead_letters = DeadTally{dead, std::min(sight.unacknowledged.value_or(dead), dead), false};
  std::vector<Finding> findings = findings_of(facts);
  // What a role may see is how it was set up, and no news every half minute.
  std::erase_if(findings, [](const Finding& finding) {
    return finding.severity == Severity::ok || finding.id == FindingId::sight_limited;
  });
  return findings;
}

std::string link_of(FindingId id) {
  switch (id) {
    case FindingId::dead_letters:
      return "/dlq";
    case FindingId::generation_abandoned:
      return "/generations";
    case FindingId::sink_stopped:
      return "/sinks";
    case FindingId::events_unsubscribed:
      return "/events?filter=status%3Apending";
    case FindingId::listener_deaf:
    case FindingId::worker_not_listening:
    case FindingId::doorbell_contention:
    case FindingId::notify_queue:
    case FindingId::claims_expired:
      return "/workers";
    case FindingId::stranded_events:
      return "/events";
    default:
      return "/storage";
  }
}

Overview::Overview(store::Administering& store, telemetry::MetricSet& metrics, OverviewOptions options)
    : store_(store), metrics_(metrics), options_(options) {
  sight_.store = store.display_name();
  sight_.retention = options_.retention;
  sight_.dead_letter_levels = options_.dead_letters;
}

Result<Duration> Overview::step(Timestamp now) {
  metrics_.process.sample();
  metrics_.store.sampled_at->set(std::chrono::duration<double>{now.time_since_epoch()}.count());
  auto looked = look();
  if (looked && is_time(glanced_at_, options_.glance_interval, now)) looked = glance(now);
  if (looked) show_gauges(metrics_.store, sight_.gauges, generations());
  metrics_.store.up->set(looked ? 1 : 0);
  if (!looked) {
    metrics_.store.sample_failures->add();
    glanced_at_.reset();
    const std::lock_guard lock{mutex_};
    seen_.attention = report_unreachable(sight_.store, looked.error()).findings;
    return std::move(looked).error();
  }
  record_gauges();
  const std::lock_guard lock{mutex_};
  // The newest sample that is a minute old stays: what happened since is counted from it. A clock may be set back.
  while (last_minute_.size() > 1 && last_minute_[1].at <= now - kMinute) last_minute_.pop_front();
  if (!last_minute_.empty() && last_minute_.back().at > now) last_minute_.clear();
  last_minute_.push_back(totals(now));
  seen_.gauges = sight_.gauges;
  seen_.sinks = sight_.sinks;
  seen_.attention = attention(sight_);
  return options_.look_interval;
}

Result<void> Overview::look() {
  SLUICE_TRY(sight_.gauges, store_.gauges());
  SLUICE_TRY(sight_.workers, store_.workers(kAliveWithin));
  SLUICE_TRY(auto unacknowledged, store_.count_unacknowledged(kDeadLook));
  sight_.unacknowledged = unacknowledged;
  metrics_.store.dead_unacknowledged->set(static_cast<double>(unacknowledged));
  show_workers(metrics_.store, sight_.workers);
  SLUICE_TRY(auto sinks, list_sinks(store_));
  sight_.sinks = std::move(sinks.sinks);
  SLUICE_TRY(sight_.stopped_sinks, stopped_sinks(store_));
  // At once when this process has written: what it wrote is no longer seen as unwritten.
  if (followed_ != metrics_.history.taken()) SLUICE_CHECK(follow_history());
  return {};
}

void Overview::record_gauges() {
  std::int64_t backlog = 0;
  for (const auto& one : sight_.gauges.generations) backlog += one.due;
  HistoryBook book;
  HistoryCounts& all = book.at(sight_.gauges.now, HistoryKind::all);
  all.newest = sight_.gauges.newest;
  all.backlog = backlog;
  all.lag_ms = static_cast<std::int64_t>(lag_of(sight_.gauges) * 1000);
  metrics_.history.add(book);
}

Result<void> Overview::follow_history() {
  const std::uint64_t taken = metrics_.history.taken();
  SLUICE_CHECK(follow(minutes_, false));
  SLUICE_CHECK(follow(hours_, true));
  followed_ = taken;
  return {};
}

// All of it once, and from then on what may have changed since: other processes write up to an hour late.
Result<void> Overview::follow(Rows& rows, bool hourly) {
  const Timestamp now = sight_.gauges.now;
  const Duration kept = hourly ? kHistoryHoursKept : kHistoryMinutesKept;
  constexpr Duration kWrittenLate = std::chrono::minutes{5};
  const Timestamp from = rows.empty() ? now - kept : std::chrono::floor<std::chrono::hours>(now - kWrittenLate);
  SLUICE_TRY(auto found, store_.history({hourly, from, now + kMinute, HistoryKind::all, {}}));
  const std::lock_guard lock{mutex_};
  rows.erase(rows.begin(), rows.lower_bound(now - kept));
  rows.erase(rows.lower_bound(from), rows.end());
  for (HistoryRow& row : found) rows.insert_or_assign(row.at, std::move(row.counts));
  return {};
}

// This process's own, those that are deployed or served, and those that had events once.
const std::set<Generation>& Overview::generations() {
  generations_.insert(options_.generation);
  for (const auto& one : sight_.workers) generations_.insert(one.generation);
  for (const auto& one : sight_.gauges.generations) generations_.insert(one.generation);
  for (const auto& one : sight_.deployments) {
    if (one.state == GenerationState::retired) {
      generations_.erase(one.generation);
    } else {
      generations_.insert(one.generation);
    }
  }
  return generations_;
}

Result<void> Overview::glance(Timestamp now) {
  SLUICE_TRY(auto diagnosis, store_.diagnose(store::DiagnosisDepth::glance));
  SLUICE_TRY(auto deployments, store_.deployments());
  SLUICE_TRY(const auto audit, store_.audit({}, kAuditLook, std::nullopt));
  sight_.unsubscribed.reset();
  const std::int64_t rows = sight_.gauges.newest - sight_.gauges.oldest;
  if (rows < kMostRowsToRead && lag_of(sight_.gauges) >= kPatienceSeconds) {
    SLUICE_TRY(sight_.unsubscribed, store_.unsubscribed());
  }
  SLUICE_CHECK(follow_history());
  SLUICE_TRY(auto samples, store_.ladder_history());
  SLUICE_TRY(const auto relay, store_.relay());
  const LadderStage stage = stage_of(diagnosis, store_.capabilities(), relay);
  sight_.ladder = judge_ladder(std::move(samples), stage, sight_.gauges.now);
  show_ladder(metrics_.store, *sight_.ladder);
  show_relay(metrics_.store, relay);
  show_diagnosis(metrics_.store, diagnosis);
  sight_.diagnosis = std::move(diagnosis);
  sight_.deployments = std::move(deployments);
  glanced_at_ = now;
  const std::lock_guard lock{mutex_};
  seen_.marks = marks_of(audit);
  seen_.notify_queue_usage.reset();
  const auto& server = sight_.diagnosis->server;
  if (server && server->notify) seen_.notify_queue_usage = server->notify->queue_usage;
  return {};
}

Overview::Totals Overview::totals(Timestamp now) const {
  telemetry::DeliveryMetrics& delivery = metrics_.delivery;
  return {now, delivery.settled.with({"delivered"}).value() + delivery.settled.with({"deduplicated"}).value(),
          delivery.settled.with({"failed"}).value() + delivery.reaped.with({"failed"}).value()};
}

std::vector<HistoryRow> Overview::chart_rows(bool hourly) const {
  Rows rows = hourly ? hours_ : minutes_;
  for (const HistoryRow& row : metrics_.history.unwritten()) {
    rows[hourly ? Timestamp{std::chrono::floor<std::chrono::hours>(row.at)} : row.at].add(row.counts);
  }
  std::vector<HistoryRow> all;
  all.reserve(rows.size());
  for (auto& [at, counts] : rows) all.push_back({at, {}, std::move(counts)});
  return all;
}

std::string Overview::json(const ChartWindow& window, Timestamp now) const {
  const std::lock_guard lock{mutex_};
  OverviewView view{now, seen_.gauges, seen_.notify_queue_usage, window, {}, seen_.attention, seen_.sinks};
  // Points lie by the store's clock, as the rows do.
  if (!last_minute_.empty()) view.points = chart_points(chart_rows(window.hourly), window, seen_.gauges.now);
  if (!last_minute_.empty()) {
    view.delivered = grown(last_minute_.front().delivered, last_minute_.back().delivered);
    view.failed = grown(last_minute_.front().failed, last_minute_.back().failed);
  }
  for (const OverviewMark& mark : seen_.marks) {
    if (mark.at > now - window.length) view.marks.push_back(mark);
  }
  return overview_json(view);
}

namespace {

std::string tiles(const OverviewView& view) {
  store::GenerationGauges sum;
  double age = 0;
  for (const store::GenerationGauges& one : view.gauges.generations) {
    sum.due += one.due;
    sum.in_flight += one.in_flight;
    sum.waiting += one.waiting;
    sum.dead += one.dead;
    age = std::max(age, oldest_age_seconds(one, view.gauges.now));
  }
  return JsonObject{}
      .number("backlog", sum.due)
      .decimal("oldest_age_seconds", age)
      .number("in_flight", sum.in_flight)
      .number("waiting", sum.waiting)
      .number("dead", std::min(sum.dead, store::kGaugeLook))
      .boolean("dead_capped", view.gauges.dead_capped)
      .number("delivered_per_minute", view.delivered)
      .number("failed_per_minute", view.failed)
      .raw("notify_queue_percent", view.notify_queue_usage ? json_decimal(*view.notify_queue_usage * 100) : "null")
      .str();
}

std::string sink_json(const store::SinkRecord& sink, Timestamp now) {
  return JsonObject{}
      .text("name", sink.declared.name)
      .text("kind", sink.declared.kind)
      .text("state", state_name(sink, now))
      .time("open_until", sink.open_until)
      .text("why", why_stopped(sink))
      .str();
}

std::string item(const Finding& finding) {
  return JsonObject{}
      .text("severity", name(finding.severity))
      .text("id", name(finding.id))
      .text("title", finding.title)
      .text("detail", finding.detail)
      .text("fix", finding.fix)
      .text("link", link_of(finding.id))
      .str();
}

}  // namespace

std::string overview_json(const OverviewView& view) {
  std::vector<std::string> marks;
  for (const OverviewMark& mark : view.marks) marks.push_back(to_json(mark));
  std::vector<std::string> sinks;
  for (const store::SinkRecord& sink : view.sinks) sinks.push_back(sink_json(sink, view.gauges.now));
  std::vector<std::string> attention;
  for (const Finding& finding : view.attention) attention.push_back(item(finding));
  return JsonObject{}
      .time("now", view.now)
      .raw("tiles", tiles(view))
      .raw("series", chart_json(view.points, view.window))
      .array("sinks", sinks)
      .array("marks", marks)
      .array("attention", attention)
      .str();
}

}  // namespace sluice::ops
