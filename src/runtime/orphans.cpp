#include "runtime/orphans.hpp"

#include "runtime/identity.hpp"

namespace sluice::runtime {
namespace {

constexpr Duration kRemembered = std::chrono::hours{24};  // workers not seen for longer are forgotten by the store
constexpr int kBatch = 500;

Result<StepReport> take_back_from(store::Store& store, const std::string& identity, Reaper& reaper) {
  StepReport total;
  for (;;) {
    const auto held = store.claims_held_by(identity, kBatch);
    if (!held) return held.error();
    const auto report = reaper.take_back(*held);
    if (!report) return report.error();
    total += *report;
    // A fenced event has another owner by now. If only those are left, asking again would never end.
    if (held->size() < static_cast<std::size_t>(kBatch) || report->fenced == report->claimed) return total;
  }
}

}  // namespace

bool provably_gone(const std::string& identity, const Machine& machine) {
  const auto named = process_named(identity);
  const auto here = process_named(machine.identity);
  return named && here && named->host == here->host && named->machine == here->machine && named->pid != here->pid &&
         machine.is_gone(named->pid);
}

Result<StepReport> take_back_orphans(store::Store& store, const Machine& machine, Reaper& reaper,
                                     const telemetry::Logger& logger) {
  const auto workers = store.workers(kRemembered);
  if (!workers) return workers.error();
  StepReport total;
  for (const store::WorkerRecord& worker : *workers) {
    if (!provably_gone(worker.identity, machine)) continue;
    const auto report = take_back_from(store, worker.identity, reaper);
    if (!report) return report.error();
    total += *report;
    if (auto departed = store.depart(worker.identity); !departed) return std::move(departed).error();
    logger.warn("a worker of this machine is gone without having signed off",
                {{"worker", worker.identity}, {"events_taken_back", report->claimed}});
  }
  return total;
}

}  // namespace sluice::runtime
