// sluice worker: the processes that claim.
#include <ostream>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "core/json_object.hpp"
#include "core/words.hpp"
#include "ops/workers.hpp"

namespace sluice::cli {
namespace {

Result<Exit> list_workers(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  const auto seen = ops::list_workers(**store);
  if (!seen) return seen.error();
  std::vector<std::string> texts;
  Table table{"WORKER", "GENERATION", "LISTENER", "STARTED", "SEEN", "HANDLERS"};
  for (const auto& worker : seen->workers) {
    texts.push_back(ops::to_json(worker, seen->now));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    const std::string ago = age_text(worker.seen_at, seen->now) + " ago";
    table.row({worker.identity, std::to_string(worker.generation), worker.listener, clock_text(worker.started_at),
               ops::is_alive(worker, seen->now) ? ago : ago + ", SILENT", joined(worker.handlers, " ")});
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("workers", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.out(), session.console().color);
  if (seen->workers.empty()) session.note("no worker was seen within a day");
  return Exit::ok;
}

}  // namespace

std::vector<Command> worker_commands() {
  return {{{"worker", "list"},
           "list the worker processes, also those that have fallen silent within a day",
           {{"sluice worker list", ""}, {"sluice worker list -o json | jq '.workers[] | select(.alive | not)'", ""}},
           {},
           {},
           false,
           false,
           list_workers}};
}

}  // namespace sluice::cli
