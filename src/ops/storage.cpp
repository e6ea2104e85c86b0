#include "ops/storage.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/ladder.hpp"

namespace sluice::ops {
namespace {

std::string optional_number(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

std::string file_json(const store::FileFacts& file) {
  return JsonObject{}
      .text("path", file.path)
      .number("bytes", file.bytes)
      .number("wal_bytes", file.wal_bytes)
      .number("free_bytes", file.free_bytes)
      .raw("disk_free_bytes", optional_number(file.disk_free_bytes))
      .text("journal_mode", file.journal_mode)
      .text("owner", file.owner)
      .str();
}

std::string holder_json(const store::XminHolder& holder) {
  using Kind = store::XminHolder::Kind;
  const bool session = holder.kind == Kind::session;
  std::optional<std::int64_t> age;
  if (const auto& open = holder.session.transaction_age) age = std::chrono::floor<std::chrono::seconds>(*open).count();
  return JsonObject{}
      .text("kind", session                     ? "session"
                    : holder.kind == Kind::slot ? "slot"
                                                : "prepared")
      .text("who", session ? in_words(holder.session) : holder.name)
      .number("transactions", holder.transactions)
      .raw("age_seconds", optional_number(age))
      .text("query", holder.session.query)
      .str();
}

std::string server_json(const store::ServerFacts& server) {
  JsonObject json;
  json.text("version", server.version_text).text("user", server.user).boolean("standby", server.standby);
  const auto& outbox = server.outbox;
  json.raw("rows", outbox ? std::to_string(outbox->live_rows) : "null");
  json.raw("dead_tuples", outbox ? std::to_string(outbox->dead_rows) : "null");
  json.raw("bytes", outbox ? std::to_string(outbox->bytes) : "null");
  json.time("vacuumed_at", outbox ? outbox->vacuumed_at : std::nullopt);
  std::vector<std::string> holders;
  if (server.xmin) {
    for (const store::XminHolder& holder : *server.xmin) holders.push_back(holder_json(holder));
  }
  const bool pinned = server.xmin && !server.xmin->empty();
  json.raw("xmin_age_transactions",
           server.xmin ? std::to_string(pinned ? server.xmin->front().transactions : 0) : "null");
  json.array("xmin_holders", holders);
  json.raw("notify_queue_percent", server.notify ? json_decimal(server.notify->queue_usage * 100) : "null");
  return json.raw("lock_waiters", server.locks ? std::to_string(server.locks->waiting) : "null").str();
}

/// Rows in all, an estimate: what the server's statistics say, else from the numbers of the oldest and the newest.
std::int64_t rows_of(const StorageReport& report) {
  if (report.diagnosis.server && report.diagnosis.server->outbox) return report.diagnosis.server->outbox->live_rows;
  return report.gauges.newest == 0 ? 0 : report.gauges.newest - report.gauges.oldest + 1;
}

struct Counts {
  std::int64_t pending = 0;
  std::int64_t waiting = 0;
  std::int64_t in_flight = 0;
  std::int64_t failed = 0;
  bool many_pending = false;
};

Counts counts_of(const store::StoreGauges& gauges) {
  Counts counts;
  for (const store::GenerationGauges& one : gauges.generations) {
    counts.pending += one.due + one.waiting;
    counts.waiting += one.waiting;
    counts.in_flight += one.in_flight;
    counts.failed += one.dead;
    counts.many_pending = counts.many_pending || one.due + one.waiting > store::kGaugeLook;
  }
  return counts;
}

std::string events_json(const StorageReport& report, const Counts& counts) {
  const std::int64_t unfinished = counts.pending + counts.in_flight + counts.failed;
  return JsonObject{}
      .number("pending", counts.pending)
      .number("waiting", counts.waiting)
      .number("in_flight", counts.in_flight)
      .number("failed", counts.failed)
      .number("delivered", std::max<std::int64_t>(rows_of(report) - unfinished, 0))
      .str();
}

std::string precision_json(const StorageReport& report, const Counts& counts) {
  return JsonObject{}
      .text("pending", counts.many_pending ? "estimate" : "exact")
      .text("waiting", counts.many_pending ? "estimate" : "exact")
      .text("in_flight", "exact")
      .text("failed", report.gauges.dead_capped ? "at_least" : "exact")
      .text("delivered", "estimate")
      .str();
}

std::string policy_json(const RetentionPolicy& policy) {
  return JsonObject{}.text("active", to_text(policy.active)).text("grace", to_text(policy.grace)).str();
}

std::string retention_json(const StorageReport& report) {
  const auto& facts = report.diagnosis.retention;
  return JsonObject{}
      .raw("outbox", policy_json(report.policies.outbox))
      .raw("event_handled", policy_json(report.policies.event_handled))
      .time("oldest_finished_at", facts ? facts->oldest_finished : std::nullopt)
      .time("oldest_tombstone_at", facts ? facts->oldest_tombstone : std::nullopt)
      .raw("preview", to_json(report.preview, true))
      .str();
}

}  // namespace

Result<store::RetentionReport> sweep_retention(store::Maintaining& store, const SweepOrder& order,
                                               const SweepProgress& go_on) {
  store::RetentionReport total;
  do {
    SLUICE_TRY(const auto swept, store.sweep_retention(order.policies, order.batch, false, order.actor));
    total.outbox_tombstoned += swept.outbox_tombstoned;
    total.outbox_deleted += swept.outbox_deleted;
    total.failed_swept += swept.failed_swept;
    total.handled_deleted += swept.handled_deleted;
    total.more = swept.more;
  } while (total.more && go_on(total));
  while (!total.more) {
    const auto kept = store.keep_partitions(order.policies, false, order.actor);
    // Somebody holds the table: the next sweep does it.
    if (!kept && kept.error().code == ErrorCode::timeout) break;
    if (!kept) return kept.error();
    if (!*kept) break;
    total.partitions.push_back(**kept);
  }
  return total;
}

Result<store::RetentionReport> preview_sweep(store::Maintaining& store, const RetentionPolicies& policies, int limit) {
  SLUICE_TRY(auto report, store.sweep_retention(policies, limit, true));
  SLUICE_TRY(const auto kept, store.keep_partitions(policies, true, {"sluice", "preview", ""}));
  if (kept) report.partitions.push_back(*kept);
  return report;
}

std::string to_json(const store::RetentionReport& report, bool dry_run) {
  std::vector<std::string> partitions;
  for (const store::PartitionChange& one : report.partitions) {
    partitions.push_back(
        JsonObject{}.text("action", one.action).text("name", one.name).number("events", one.events).str());
  }
  return JsonObject{}
      .boolean("dry_run", dry_run)
      .number("outbox_tombstoned", report.outbox_tombstoned)
      .number("outbox_deleted", report.outbox_deleted)
      .number("failed_swept", report.failed_swept)
      .number("handled_deleted", report.handled_deleted)
      .boolean("more", report.more)
      .array("partitions", partitions)
      .str();
}

Result<StorageReport> report_storage(store::Administering& store, const RetentionPolicies& policies) {
  StorageReport report{store.display_name(), store.capabilities().embedded, {}, {}, policies, {}};
  SLUICE_TRY(report.gauges, store.gauges());
  SLUICE_TRY(report.diagnosis, store.diagnose(store::DiagnosisDepth::glance));
  SLUICE_TRY(report.preview, preview_sweep(store, policies, kPreviewRows));
  return report;
}

std::string to_json(const StorageReport& report) {
  const Counts counts = counts_of(report.gauges);
  std::string facts = "null";
  if (report.diagnosis.file) facts = file_json(*report.diagnosis.file);
  if (report.diagnosis.server) facts = server_json(*report.diagnosis.server);
  std::vector<std::string> partitions;
  if (report.diagnosis.partitions) {
    for (const store::Partition& one : report.diagnosis.partitions->partitions) partitions.push_back(to_json(one));
  }
  return JsonObject{}
      .text("kind", report.embedded ? "sqlite" : "postgres")
      .text("store", report.store)
      .time("now", report.gauges.now)
      .raw("facts", facts)
      .array("partitions", partitions)
      .raw("events", events_json(report, counts))
      .raw("precision", precision_json(report, counts))
      .raw("retention", retention_json(report))
      .str();
}

}  // namespace sluice::ops
