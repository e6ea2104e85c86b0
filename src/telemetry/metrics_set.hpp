// Every metric of Sluice, by theme: the one place where they have their names. docs/reference/metrics.md
// describes them; tests/golden/metric_names.txt pins them.
//
// No label ever holds an event's id, and whatever comes from outside (handlers, error classes, routes, sources)
// has a bound on how many series it makes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include <sluice/handler.hpp>
#include "telemetry/exporting.hpp"
#include "telemetry/history.hpp"
#include "telemetry/metrics.hpp"

namespace sluice::telemetry {

/// What is in the store, sampled every few seconds. By generation where the name says so.
struct StoreMetrics {
  explicit StoreMetrics(Registry& registry);
  Family<Gauge>& backlog;     ///< generation
  Family<Gauge>& oldest_age;  ///< generation
  Family<Gauge>& waiting;     ///< generation
  Family<Gauge>& in_flight;   ///< generation
  Family<Gauge>& dead;        ///< generation
  Family<Gauge>& dead_unacknowledged;
  Family<Gauge>& workers;  ///< generation, listener
  Family<Gauge>& up;
  Family<Gauge>& sampled_at;
  Family<Counter>& sample_failures;
  // Each of these is there only where the store has such a thing.
  Family<Gauge>& notify_queue_usage;
  Family<Gauge>& xmin_age;
  Family<Gauge>& outbox_rows;
  Family<Gauge>& dead_tuples;
  Family<Gauge>& table_bytes;
  Family<Gauge>& file_bytes;
  Family<Gauge>& wal_bytes;
  Family<Gauge>& free_bytes;
  Family<Gauge>& disk_free_bytes;
  Family<Gauge>& ladder_step_due;  ///< step: 1 for the one that is
  Family<Gauge>& relay_state;      ///< broker, state: 1 for the one it is in
};

/// What the workers of this process do.
struct DeliveryMetrics {
  explicit DeliveryMetrics(Registry& registry);
  Family<Counter>& claims;  ///< outcome: full, partial, empty, error
  Family<Counter>& claimed_events;
  Family<Histogram>& claim_duration;
  Family<Histogram>& claim_batch;
  Family<Counter>& settled;  ///< result: delivered, deduplicated, retried, failed, released, fenced
  Family<Histogram>& settle_duration;
  Family<Counter>& handler_runs;        ///< handler, result: handled, failed, deferred, deduplicated
  Family<Counter>& handler_failures;    ///< class
  Family<Histogram>& handler_duration;  ///< handler
  Family<Histogram>& handled_latency;
  Family<Histogram>& first_attempt_latency;  ///< its buckets are those of LadderSample
  Family<Histogram>& replay_latency;
  Family<Counter>& polls;
  Family<Counter>& reaped;        ///< result: retried, failed, fenced
  Family<Counter>& relayed;       ///< result: published, duplicate, refused, deferred
  Family<Counter>& relay_errors;  ///< class: the name of an error code
  Family<Counter>& stranded;      ///< cause: passed_over, no_claim, blocker_gone
  Family<Counter>& swept;         ///< what: tombstoned, deleted, handled
  Family<Counter>& failed_swept;
};

struct ListenerMetrics {
  explicit ListenerMetrics(Registry& registry);
  Family<Gauge>& state;  ///< state: 1 for the one it is in
  Family<Counter>& notifications;
  Family<Counter>& reconnects;
  Family<Counter>& losses;
  Family<Counter>& deaf;
};

struct AlertMetrics {
  explicit AlertMetrics(Registry& registry);
  Family<Counter>& sent;     ///< channel
  Family<Counter>& failed;   ///< channel
  Family<Counter>& dropped;  ///< channel; `queue`: before any channel had it
  Family<Counter>& suppressed;
  Family<Gauge>& queued;  ///< channel; `queue`
};

/// What comes in and goes out through the daemon.
struct TrafficMetrics {
  explicit TrafficMetrics(Registry& registry);
  Family<Counter>& published;        ///< surface, outcome: published, duplicate, refused, error
  Family<Counter>& http_requests;    ///< route (the pattern), method, status (`2xx`)
  Family<Histogram>& http_duration;  ///< route, method
  Family<Counter>& sink_deliveries;  ///< sink, outcome: delivered, failed, deferred
  Family<Histogram>& sink_duration;  ///< sink
  Family<Gauge>& sink_state;         ///< sink, state: 1 for the one it is in
  Family<Counter>& inbox;            ///< source, outcome: stored, duplicate, refused, error

  void http_served(std::string_view method, std::string_view route, int status, double seconds);
  /// A sink was given a batch.
  void sink_delivered(const std::string& sink, std::span<const Verdict> verdicts, Duration took);
  /// Every sink that there is, by name, and the state that it is in.
  void show_sinks(const std::map<std::string, std::string>& states);
};

struct ProcessMetrics {
  explicit ProcessMetrics(Registry& registry);
  Family<Gauge>& build_info;  ///< version; always 1
  Family<Gauge>& start_time;
  Family<Gauge>& resident_bytes;
  Family<Gauge>& open_descriptors;
  Family<Gauge>& most_descriptors;

  /// Reads what the system says of this process now.
  void sample();
};

/// What became of the spans that this process recorded, or of the lines of its log.
struct ExportMetrics {
  struct Names {
    std::string prefix;  ///< `sluice_trace_spans`
    std::string what;    ///< `Spans`
  };
  ExportMetrics(Registry& registry, const Names& names);
  Family<Counter>& exported;
  Family<Counter>& dropped;
  Family<Gauge>& queued;

  void mirror(const ExportCounts& counts);
};

/// The registry outlives the set.
struct MetricSet {
  explicit MetricSet(Registry& registry)
      : store(registry),
        delivery(registry),
        listener(registry),
        alerts(registry),
        traffic(registry),
        process(registry),
        traces(registry, {"sluice_trace_spans", "Spans"}),
        logs(registry, {"sluice_log_records", "Lines of the log"}) {}

  StoreMetrics store;
  DeliveryMetrics delivery;
  ListenerMetrics listener;
  AlertMetrics alerts;
  TrafficMetrics traffic;
  ProcessMetrics process;
  ExportMetrics traces;
  ExportMetrics logs;
  DeliveryHistory history;  ///< for the charts; not exposed
};

}  // namespace sluice::telemetry
