#include "ops/metrics_store.hpp"

#include <algorithm>

namespace sluice::ops {
namespace {

using Values = std::map<telemetry::Labels, double>;

void show(telemetry::Family<telemetry::Gauge>& gauge, const std::optional<double>& value) {
  gauge.replace(value ? Values{{{}, *value}} : Values{});
}

template <class Facts>
void show(telemetry::Family<telemetry::Gauge>& gauge, const std::optional<Facts>& facts, std::int64_t Facts::*member) {
  show(gauge, facts ? std::optional{static_cast<double>((*facts).*member)} : std::nullopt);
}

}  // namespace

double oldest_age_seconds(const store::GenerationGauges& gauges, Timestamp now) {
  if (!gauges.oldest_due) return 0;
  return std::max(std::chrono::duration<double>{now - *gauges.oldest_due}.count(), 0.0);
}

void show_gauges(telemetry::StoreMetrics& metrics, const store::StoreGauges& gauges,
                 const std::set<Generation>& generations) {
  Values backlog;
  Values oldest;
  Values waiting;
  Values in_flight;
  Values dead;
  for (const Generation generation : generations) {
    for (Values* values : {&backlog, &oldest, &waiting, &in_flight, &dead}) {
      (*values)[{std::to_string(generation)}] = 0;
    }
  }
  for (const store::GenerationGauges& one : gauges.generations) {
    const telemetry::Labels labels{std::to_string(one.generation)};
    backlog[labels] = static_cast<double>(one.due);
    oldest[labels] = oldest_age_seconds(one, gauges.now);
    waiting[labels] = static_cast<double>(one.waiting);
    in_flight[labels] = static_cast<double>(one.in_flight);
    dead[labels] = static_cast<double>(one.dead);
  }
  metrics.backlog.replace(backlog);
  metrics.oldest_age.replace(oldest);
  metrics.waiting.replace(waiting);
  metrics.in_flight.replace(in_flight);
  metrics.dead.replace(dead);
}

void show_workers(telemetry::StoreMetrics& metrics, const std::vector<store::WorkerRecord>& alive) {
  Values workers;
  for (const store::WorkerRecord& worker : alive) ++workers[{std::to_string(worker.generation), worker.listener}];
  metrics.workers.replace(workers);
}

void show_diagnosis(telemetry::StoreMetrics& metrics, const store::Diagnosis& diagnosis) {
  std::optional<double> queue;
  std::optional<double> xmin;
  std::optional<store::TableFacts> outbox;
  if (diagnosis.server) {
    const store::ServerFacts& server = *diagnosis.server;
    if (server.notify) queue = server.notify->queue_usage;
    if (server.xmin) xmin = server.xmin->empty() ? 0.0 : static_cast<double>(server.xmin->front().transactions);
    outbox = server.outbox;
  }
  show(metrics.notify_queue_usage, queue);
  show(metrics.xmin_age, xmin);
  show(metrics.outbox_rows, outbox, &store::TableFacts::live_rows);
  show(metrics.dead_tuples, outbox, &store::TableFacts::dead_rows);
  show(metrics.table_bytes, outbox, &store::TableFacts::bytes);
  show(metrics.file_bytes, diagnosis.file, &store::FileFacts::bytes);
  show(metrics.wal_bytes, diagnosis.file, &store::FileFacts::wal_bytes);
  show(metrics.free_bytes, diagnosis.file, &store::FileFacts::free_bytes);
  std::optional<double> disk;
  if (diagnosis.file && diagnosis.file->disk_free_bytes) disk = static_cast<double>(*diagnosis.file->disk_free_bytes);
  show(metrics.disk_free_bytes, disk);
}

void show_ladder(telemetry::StoreMetrics& metrics, const LadderVerdict& verdict) {
  Values steps;
  for (const LadderTrigger& trigger : verdict.triggers) {
    steps[{std::string{name(trigger.step)}}] = verdict.due == trigger.step ? 1 : 0;
  }
  metrics.ladder_step_due.replace(steps);
}

void show_relay(telemetry::StoreMetrics& metrics, const store::RelaySwitch& relay) {
  metrics.relay_state.replace({{{relay.broker.empty() ? "none" : relay.broker, std::string{name(relay.state)}}, 1}});
}

}  // namespace sluice::ops
