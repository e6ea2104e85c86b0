// sluice audit and sluice retention: what is kept, for how long, and a sweep on demand.
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/event_json.hpp"
#include "ops/ladder.hpp"
#include "ops/storage.hpp"

namespace sluice::cli {
namespace {

Result<ops::AuditRequest> request_of(const Arguments& arguments) {
  ops::AuditRequest request;
  request.filter.actor = arguments.value("--actor").value_or("");
  request.filter.surface = arguments.value("--surface").value_or("");
  request.filter.action = arguments.value("--action").value_or("");
  if (const auto text = arguments.value("--event")) {
    SLUICE_CHECK(ops::id_digits(*text, "--event"));
  }
  SLUICE_TRY(request.limit, number_of(arguments, {"--limit", request.limit, 1, ops::kMaxPage}));
  request.cursor = arguments.value("--cursor");
  return request;
}

void print_list(const Session& session, const ops::AuditList& list) {
  if (session.format() == Format::json) {
    session.out() << ops::to_json(list) << '\n';
    return;
  }
  Table table{"AT", "WHO", "THROUGH", "ACTION", "COUNT", "EVENT", "WHY", "DETAIL"};
  for (const auto& record : list.records) {
    if (session.format() == Format::ndjson) {
      session.out() << ops::to_json(record) << '\n';
      continue;
    }
    table.row({clock_text(record.at), record.actor.name, record.actor.surface, record.action,
               std::to_string(record.count), record.event_id ? record.event_id->to_string() : "-", record.actor.reason,
               record.detail == "{}" ? "" : record.detail});
  }
  if (!table.empty()) table.print(session.console());
  if (list.records.empty()) session.note("no records match");
  if (list.next_cursor) session.note("more records follow: --cursor " + *list.next_cursor);
}

Result<Exit> list_audit(Session& session) {
  SLUICE_TRY(auto request, request_of(session.arguments()));
  SLUICE_TRY(const auto opened, session.open_existing());
  if (const auto text = session.arguments().value("--event")) {
    SLUICE_TRY(request.filter.event_id, ops::whole_id(*opened.store, *text, "--event"));
  }
  for (const auto& [flag, into] : {std::pair{"--since", &request.filter.since}, {"--until", &request.filter.until}}) {
    const auto text = session.arguments().value(flag);
    if (!text) continue;
    SLUICE_TRY(const auto at, parse_since(*text, flag, *opened.store));
    *into = at;
  }
  SLUICE_TRY(const auto found, ops::list_audit(*opened.store, request));
  print_list(session, found);
  return Exit::ok;
}

constexpr int kSweepBatch = 1000;
// A dry run only counts, and its count has an end.
constexpr int kCountLimit = 100'000;

std::string at_least(const store::RetentionReport& report, std::int64_t count) {
  return (report.more && count > 0 ? "at least " : "") + std::to_string(count);
}

void print_report(const Session& session, const store::RetentionReport& report) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(report, session.dry_run()) << '\n';
    return;
  }
  print_pairs(session.out(), {{"tombstoned", at_least(report, report.outbox_tombstoned)},
                              {"deleted", at_least(report, report.outbox_deleted)},
                              {"of them failed", at_least(report, report.failed_swept)},
                              {"dedup rows deleted", at_least(report, report.handled_deleted)}});
  for (const store::PartitionChange& one : report.partitions) {
    session.out() << "partition " << one.name << (session.dry_run() ? " would be " : " ") << one.action << " ("
                  << counted(one.events, "event") << ")\n";
  }
}

void print_partitions(const Session& session, const ops::StorageReport& report) {
  Table table{"PARTITION", "SINCE", "UNTIL", "EVENTS", "SIZE", "NOTE"};
  if (!report.diagnosis.partitions) return;
  for (const store::Partition& one : report.diagnosis.partitions->partitions) {
    table.row({one.name, one.since ? ops::month_text(*one.since) : "-", one.until ? ops::month_text(*one.until) : "-",
               std::to_string(one.rows), ops::bytes_text(one.bytes), one.note});
  }
  if (!table.empty()) table.print(session.console());
}

Result<Exit> show_retention(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto report, ops::report_storage(*opened.store, opened.config.retention));
  if (session.format() != Format::table) {
    session.out() << ops::to_json(report) << '\n';
    return Exit::ok;
  }
  const RetentionPolicies& policies = report.policies;
  print_pairs(session.out(), {{"events", to_text(policies.outbox.active) + ", then " + to_text(policies.outbox.grace) +
                                             " as tombstones"},
                              {"dedup rows", to_text(policies.event_handled.active + policies.event_handled.grace)}});
  print_partitions(session, report);
  return Exit::ok;
}

Result<store::RetentionReport> run_sweep(const Session& session, store::Administering& store,
                                         const config::Config& config) {
  if (session.dry_run()) return ops::preview_sweep(store, config.retention, kCountLimit);
  const ops::SweepOrder order{config.retention, kSweepBatch, {config.actor, "cli", "retention sweep"}};
  return ops::sweep_retention(store, order, [&](const store::RetentionReport& so_far) {
    session.detail("tombstoned " + std::to_string(so_far.outbox_tombstoned) + ", deleted " +
                   std::to_string(so_far.outbox_deleted) + ", dedup rows deleted " +
                   std::to_string(so_far.handled_deleted));
    return !session.adapters().interruption->wait_for(Duration::zero());
  });
}

Result<Exit> sweep(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  if (!session.dry_run()) session.adapters().interruption->arm();
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  SLUICE_TRY(const auto report, run_sweep(session, *store, config));
  print_report(session, report);
  if (session.dry_run()) {
    session.note("dry run: nothing was changed");
  } else if (report.more) {
    session.note("interrupted; run it again to go on");
    return Exit::interrupted;
  }
  return Exit::ok;
}

Command sweep_command(std::string_view verb, bool hidden) {
  return {{"retention", verb},
          "tombstone and delete what the retention policies no longer keep",
          {{"sluice retention sweep --dry-run", "how much that is"},
           {"sluice retention sweep", "in small batches, beside running workers; `sluice serve` does it by itself"}},
          {},
          {},
          true,
          hidden,
          sweep};
}

}  // namespace

std::vector<Command> audit_commands() {
  return {{{"audit", "list"},
           "who did what, through which surface and why, newest first",
           {{"sluice audit list --since 1d", ""},
            {"sluice audit list --action 'replay*' --surface mcp -o ndjson", "what agents have replayed"}},
           {},
           {{"--actor", "", "NAME", "who"},
            {"--surface", "", "NAME", "sql, cli, http, console, mcp or daemon"},
            {"--action", "", "ACTION", "exact, or a prefix followed by *"},
            {"--event", "", "UUID", "what was done to one event"},
            {"--since", "", "TIME", "not before: 2h (ago) or 2026-04-25T01:43:02Z"},
            {"--until", "", "TIME", "before, in the same forms"},
            {"--limit", "", "N", "at most this many, up to 1000; default 50"},
            {"--cursor", "", "CURSOR", "continue where the page before ended"}},
           false,
           false,
           list_audit}};
}

std::vector<Command> retention_commands() {
  return {{{"retention", "show"},
           "what is kept for how long, and the partitions of the events",
           {{"sluice retention show", ""}},
           {},
           {},
           false,
           false,
           show_retention},
          sweep_command("sweep", false),
          sweep_command("run", true)};
}

}  // namespace sluice::cli
