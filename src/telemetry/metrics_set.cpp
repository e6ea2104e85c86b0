#include "telemetry/metrics_set.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/ladder.hpp"
#include "host/entropy.hpp"

namespace sluice::telemetry {
namespace {

// From a look at an idle store to a claim behind a held snapshot.
std::vector<double> store_seconds() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
}
// From a handler in memory to one that waits for a person's machine.
std::vector<double> handler_seconds() {
  return {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
}
// From a notification to the last retry.
std::vector<double> latency_seconds() {
  return {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200};
}
std::vector<double> batch_sizes() { return {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}; }
std::vector<double> request_seconds() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
}

// For what only one kind of store has.
Family<Gauge>& optional_gauge(Registry& registry, std::string name, std::string help) {
  return registry.gauge({.name = std::move(name), .help = std::move(help), .optional = true});
}

void start(Family<Counter>& family, std::initializer_list<const char*> values) {
  for (const char* value : values) family.with({value});
}

constexpr std::size_t kMostClasses = 100;
constexpr std::size_t kMostRoutes = 500;

}  // namespace

StoreMetrics::StoreMetrics(Registry& registry)
    : backlog(registry.gauge({"sluice_backlog_events", "Events that are due and not claimed.", {"generation"}})),
      oldest_age(registry.gauge({"sluice_backlog_oldest_age_seconds",
                                 "How long the event that waits for longest has been due.",
                                 {"generation"}})),
      waiting(registry.gauge(
          {"sluice_waiting_events", "Pending events that are not yet due: retries, delayed events.", {"generation"}})),
      in_flight(
          registry.gauge({"sluice_in_flight_events", "Events that are claimed and not settled.", {"generation"}})),
      dead(registry.gauge({"sluice_dead_events",
                           "Failed events that are not discarded, counted no further than 10000 in all.",
                           {"generation"}})),
      dead_unacknowledged(
          registry.gauge({"sluice_dead_unacknowledged_events",
                          "Of these, what nobody has acknowledged, or failed since; counted no further than 10000."})),
      workers(registry.gauge({"sluice_workers",
                              "Worker processes that are alive, by what their listener does.",
                              {"generation", "listener"}})),
      up(registry.gauge({"sluice_store_up", "1 when the latest sample of the store succeeded, else 0."})),
      sampled_at(registry.gauge({"sluice_store_sampled_timestamp_seconds", "When the store was last sampled."})),
      sample_failures(registry.counter({"sluice_store_sample_failures_total", "Samples of the store that failed."})),
      notify_queue_usage(optional_gauge(registry, "sluice_notify_queue_usage_ratio",
                                        "How full the NOTIFY queue of the server is, from 0 to 1.")),
      xmin_age(optional_gauge(registry, "sluice_xmin_age_transactions",
                              "Transactions begun since the oldest snapshot that keeps dead rows from going.")),
      outbox_rows(optional_gauge(registry, "sluice_outbox_rows", "Rows of the outbox, an estimate.")),
      dead_tuples(optional_gauge(registry, "sluice_outbox_dead_tuples",
                                 "Dead row versions of the outbox that vacuum has not removed.")),
      table_bytes(optional_gauge(registry, "sluice_outbox_bytes", "Size of the outbox with its indexes.")),
      file_bytes(optional_gauge(registry, "sluice_sqlite_file_bytes", "Size of the embedded store's file.")),
      wal_bytes(optional_gauge(registry, "sluice_sqlite_wal_bytes", "Size of its write-ahead log.")),
      free_bytes(optional_gauge(registry, "sluice_sqlite_free_bytes", "Bytes of its file that hold nothing.")),
      disk_free_bytes(optional_gauge(registry, "sluice_sqlite_disk_free_bytes", "Free space on its disk.")),
      ladder_step_due(registry.gauge({"sluice_ladder_step_due",
                                      "1 for the step of the ladder that is due (sluice ladder status), else 0.",
                                      {"step"}})),
      relay_state(
          registry.gauge({"sluice_relay_state",
                          "1 for the state of the relay's switch and the broker that it names, none while it is off.",
                          {"broker", "state"}})) {}

DeliveryMetrics::DeliveryMetrics(Registry& registry)
    : claims(registry.counter({"sluice_claims_total", "Looks for work, by what came of them.", {"outcome"}})),
      claimed_events(registry.counter({"sluice_claimed_events_total", "Events that were claimed."})),
      claim_duration(registry.histogram({"sluice_claim_duration_seconds", "How long the store took to answer a claim."},
                                        store_seconds())),
      claim_batch(registry.histogram({"sluice_claim_batch_events", "Events per claim that found any."}, batch_sizes())),
      settled(registry.counter({"sluice_settled_events_total", "Claimed events by what became of them.", {"result"}})),
      settle_duration(registry.histogram(
          {"sluice_settle_duration_seconds", "How long the store took to settle a batch."}, store_seconds())),
      handler_runs(registry.counter({"sluice_handler_runs_total",
                                     "Events per handler, by what the handler made of them.",
                                     {"handler", "result"}})),
      handler_failures(registry.counter(
          {"sluice_handler_failures_total", "Failed runs of handlers by error class.", {"class"}, kMostClasses})),
      handler_duration(registry.histogram({"sluice_handler_duration_seconds", "How long a handler ran.", {"handler"}},
                                          handler_seconds())),
      handled_latency(
          registry.histogram({"sluice_handled_latency_seconds",
                              "From occurred_at of an event until it was delivered; without what was replayed."},
                             latency_seconds())),
      first_attempt_latency(registry.histogram({"sluice_first_attempt_latency_seconds",
                                                "From occurred_at of an event until it was delivered, if that was its "
                                                "first attempt and nothing had to be waited for."},
                                               {kLadderLatencyBounds.begin(), kLadderLatencyBounds.end()})),
      replay_latency(registry.histogram(
          {"sluice_replay_latency_seconds", "From the latest replay of an event until it was delivered."},
          latency_seconds())),
      polls(registry.counter({"sluice_polls_total", "Scans for work that no notification had asked for."})),
      reaped(
          registry.counter({"sluice_reaped_claims_total", "Claims that ran out, by what became of them.", {"result"}})),
      relayed(registry.counter(
          {"sluice_relayed_events_total", "Events that a relay gave to the broker, by its answer.", {"result"}})),
      relay_errors(registry.counter({"sluice_relay_errors_total",
                                     "Publishes of a relay, and later looks at the broker, that failed.",
                                     {"class"}})),
      stranded(registry.counter(
          {"sluice_stranded_events_total", "Events that no claim would have found, healed by the patrol.", {"cause"}})),
      swept(registry.counter({"sluice_retention_swept_total", "Rows that retention took away.", {"what"}})),
      failed_swept(registry.counter(
          {"sluice_retention_failed_swept_total", "Events among them that had failed and that nobody had replayed."})) {
  // From the start: what appears at its first event has no increase that an alert could see.
  start(claims, {"full", "partial", "empty", "error"});
  start(settled, {"delivered", "deduplicated", "retried", "failed", "released", "fenced"});
  start(reaped, {"retried", "failed", "fenced"});
  start(relayed, {"published", "duplicate", "refused", "deferred"});
  start(relay_errors, {"unavailable", "timeout", "forbidden", "exhausted", "not_found"});
  start(stranded, {"passed_over", "no_claim", "blocker_gone"});
  start(swept, {"tombstoned", "deleted", "handled"});
}

ListenerMetrics::ListenerMetrics(Registry& registry)
    : state(registry.gauge({"sluice_listener_state", "1 for the state that the listener is in.", {"state"}})),
      notifications(registry.counter({"sluice_listener_rings_total", "Notifications that the listener heard."})),
      reconnects(registry.counter({"sluice_listener_reconnects_total", "Times that the listener listened anew."})),
      losses(registry.counter(
          {"sluice_listener_losses_total", "Connections of the listener that broke or could not be opened."})),
      deaf(registry.counter({"sluice_listener_deaf_total", "Probes that the listener did not hear."})) {}

AlertMetrics::AlertMetrics(Registry& registry)
    : sent(registry.counter({"sluice_alerts_sent_total", "Alerts that a receiver took.", {"channel"}})),
      failed(registry.counter({"sluice_alerts_failed_total", "Calls of a receiver that failed.", {"channel"}})),
      dropped(registry.counter({"sluice_alerts_dropped_total", "Alerts that were given up.", {"channel"}})),
      suppressed(registry.counter({"sluice_alerts_suppressed_total", "Failures that the throttle held back."})),
      queued(registry.gauge({"sluice_alerts_queued", "Alerts that wait to be sent.", {"channel"}})) {}

TrafficMetrics::TrafficMetrics(Registry& registry)
    : published(registry.counter(
          {"sluice_published_events_total", "Events given to this daemon to publish.", {"surface", "outcome"}})),
      http_requests(registry.counter(
          {"sluice_http_requests_total", "Answered requests.", {"route", "method", "status"}, kMostRoutes})),
      http_duration(registry.histogram({"sluice_http_request_duration_seconds",
                                        "From a request's last byte until its answer was made.",
                                        {"route", "method"},
                                        kMostRoutes},
                                       request_seconds())),
      sink_deliveries(
          registry.counter({"sluice_sink_deliveries_total", "Deliveries to a sink by outcome.", {"sink", "outcome"}})),
      sink_duration(registry.histogram(
          {"sluice_sink_delivery_duration_seconds", "How long a sink took for a batch of deliveries.", {"sink"}},
          handler_seconds())),
      sink_state(registry.gauge({"sluice_sink_state", "1 for the state that a sink is in.", {"sink", "state"}})),
      inbox(registry.counter(
          {"sluice_inbox_deliveries_total", "Webhooks that were received, by outcome.", {"source", "outcome"}})) {}

void TrafficMetrics::http_served(std::string_view method, std::string_view route, int status, double seconds) {
  const std::string pattern{route};
  const std::string verb{method};
  http_requests.with({pattern, verb, std::to_string(status / 100) + "xx"}).add();
  http_duration.with({pattern, verb}).observe(seconds);
}

void TrafficMetrics::sink_delivered(const std::string& sink, std::span<const Verdict> verdicts, Duration took) {
  const auto count = [&](const char* outcome, Verdict::Kind kind) {
    const auto events = std::count_if(verdicts.begin(), verdicts.end(),
                                      [kind](const Verdict& verdict) { return verdict.kind == kind; });
    if (events > 0) sink_deliveries.with({sink, outcome}).add(static_cast<std::uint64_t>(events));
  };
  count("delivered", Verdict::Kind::handled);
  count("failed", Verdict::Kind::failed);
  count("deferred", Verdict::Kind::deferred);
  count("stopped", Verdict::Kind::stopped);
  sink_duration.with({sink}).observe(std::chrono::duration<double>{took}.count());
}

void TrafficMetrics::show_sinks(const std::map<std::string, std::string>& states) {
  std::map<Labels, double> values;
  for (const auto& [sink, state] : states) {
    for (const char* each : {"active", "paused", "disabled", "open", "half_open"}) {
      values[{sink, each}] = state == each ? 1 : 0;
    }
  }
  sink_state.replace(values);
}

ProcessMetrics::ProcessMetrics(Registry& registry)
    : build_info(registry.gauge({"sluice_build_info", "Which build this is; always 1.", {"version"}})),
      start_time(registry.gauge({"process_start_time_seconds", "When the process started, since the epoch."})),
      resident_bytes(registry.gauge({"process_resident_memory_bytes", "Resident memory."})),
      open_descriptors(registry.gauge({"process_open_fds", "Open file descriptors."})),
      most_descriptors(registry.gauge({"process_max_fds", "The most file descriptors that may be open."})) {
  start_time->set(std::chrono::duration<double>{host::wall_clock().time_since_epoch()}.count());
  sample();
}

namespace {

double resident_memory() {
  std::ifstream statm{"/proc/self/statm"};
  double size = 0;
  double resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code failure;
  double count = 0;
  for (auto entry = std::filesystem::directory_iterator{"/proc/self/fd", failure};
       !failure && entry != std::filesystem::directory_iterator{}; entry.increment(failure)) {
    ++count;
  }
  return count;
}

}  // namespace

void ProcessMetrics::sample() {
  resident_bytes->set(resident_memory());
  open_descriptors->set(open_files());
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) most_descriptors->set(static_cast<double>(limit.rlim_cur));
}

ExportMetrics::ExportMetrics(Registry& registry, const Names& names)
    : exported(registry.counter({names.prefix + "_exported_total", names.what + " that the collector took."})),
      dropped(
          registry.counter({names.prefix + "_dropped_total",
                            names.what + " that were dropped: no room in the queue, or not taken by the collector."})),
      queued(registry.gauge({names.prefix + "_queued", names.what + " that wait to be exported."})) {}

void ExportMetrics::mirror(const ExportCounts& counts) {
  exported->follow(counts.exported);
  dropped->follow(counts.dropped);
  queued->set(static_cast<double>(counts.queued));
}

}  // namespace sluice::telemetry
