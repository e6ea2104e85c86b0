// sluice retention: how long rows are kept, and a sweep on demand.
#include <ostream>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "ops/retention_sweep.hpp"

namespace sluice::cli {
namespace {

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
  const auto config = session.config();
  if (!config) return config.error();
  if (!session.dry_run()) session.adapters().interruption->arm();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  const auto report = run_sweep(session, **store, *config);
  if (!report) return report.error();
  print_report(session, *report);
  if (session.dry_run()) {
    session.note("dry run: nothing was changed");
  } else if (report->more) {
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

std::vector<Command> retention_commands() { return {sweep_command("sweep", false), sweep_command("run", true)}; }

}  // namespace sluice::cli
