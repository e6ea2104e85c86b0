// sluice status and sluice worker: how it is, and who works.
#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/sinks.hpp"
#include "ops/status_report.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kUnsubscribedShown = 10;

std::string workers_text(const std::vector<store::WorkerRecord>& workers) {
  if (workers.empty()) return "none alive";
  return std::to_string(workers.size()) + " alive";
}

void print_generations(Console& console, const ops::StatusReport& report) {
  Table table{"GENERATION", "STATE", "PENDING", "WAITING", "IN FLIGHT", "DELIVERED", "FAILED", "OLDEST PENDING"};
  for (const auto& row : report.generations) {
    table.row({std::to_string(row.generation), row.state ? std::string{name(*row.state)} : "-",
               ops::count_text(row.pending, row.pending_estimated), std::to_string(row.waiting),
               std::to_string(row.in_flight), ops::count_text(row.delivered, row.delivered_estimated),
               ops::count_text(row.failed, row.failed_estimated),
               row.oldest_pending ? age_text(*row.oldest_pending, report.now) : "-"});
  }
  if (table.empty()) {
    console.out << "  no events and no generations yet\n";
  } else {
    table.print(console);
  }
}

std::string sentence(const store::UnsubscribedCount& count, Timestamp now) {
  return "nobody subscribes to: " + std::to_string(count.count) + " × " + count.event_type +
         (count.target ? " → " + *count.target : "") + ", oldest " + age_text(count.oldest, now) + ", generation " +
         std::to_string(count.generation);
}

/// What needs somebody's attention, a line each.
std::vector<std::string> concerns(const ops::StatusReport& report) {
  std::vector<std::string> lines;
  for (const auto& row : report.generations) {
    if (row.abandoned()) lines.push_back("generation " + std::to_string(row.generation) + ": " + ops::in_words(row));
  }
  for (const auto& worker : report.workers) {
    if (!ops::is_listening(worker)) {
      lines.push_back("worker " + worker.identity + " of generation " + std::to_string(worker.generation) +
                      ": its listener is " + worker.listener);
    }
  }
  for (const auto& sink : report.sinks) {
    if (!sink.takes_deliveries()) lines.push_back("sink " + sink.declared.name + " is " + ops::why_stopped(sink));
  }
  if (const std::int64_t open = report.dead_letters.unacknowledged; open > 0) {
    const bool more = report.dead_letters.capped && report.dead_letters.acknowledged() == 0;
    lines.push_back((more ? "at least " : "") + counted(open, "dead letter") + (open == 1 ? " needs" : " need") +
                    " review: `sluice dlq groups`");
  }
  const std::size_t shown = std::min(report.unsubscribed.size(), kUnsubscribedShown);
  for (std::size_t at = 0; at < shown; ++at) lines.push_back(sentence(report.unsubscribed[at], report.now));
  if (shown < report.unsubscribed.size()) {
    lines.push_back("and " + std::to_string(report.unsubscribed.size() - shown) +
                    " more kinds of events that nobody subscribes to; -o json lists them");
  }
  return lines;
}

void print_report(Console& console, const ops::StatusReport& report) {
  print_pairs(console.out, {{"store", report.store},
                            {"schema", "version " + std::to_string(report.schema.applied)},
                            {"clock", clock_text(report.now)},
                            {"generation", std::to_string(report.default_generation)},
                            {"workers", workers_text(report.workers)},
                            {"failed", ops::in_words(report.dead_letters)},
                            {"discarded", ops::count_text(report.discarded, report.discarded_estimated)}});
  console.out << '\n';
  print_generations(console, report);
  const auto lines = concerns(report);
  if (!lines.empty()) console.out << '\n';
  for (const std::string& line : lines) console.out << printable(line) << '\n';
}

Result<void> show(const Session& session, store::Administering& store) {
  SLUICE_TRY(const auto report, ops::report_status(store));
  if (session.format() == Format::table) {
    print_report(session.console(), report);
  } else {
    session.out() << ops::to_json(report) << '\n';
  }
  session.out().flush();
  return {};
}

Result<Exit> status(Session& session) {
  const bool watch = session.arguments().has("--watch");
  const auto every = parse_duration(session.arguments().value("--every").value_or("2s"), "--every");
  if (!every || *every <= Duration::zero()) return invalid("--every", "--every must be a duration like 2s");
  if (watch) session.adapters().interruption->arm();
  SLUICE_TRY(const auto opened, session.open_existing());
  for (;;) {
    // A page that is drawn anew, on a terminal; one report after the other elsewhere.
    if (watch && session.console().out_is_tty && session.format() == Format::table) session.out() << "\x1b[H\x1b[2J";
    const auto shown = show(session, *opened.store);
    if (!shown && (!watch || shown.error().retry == Retry::never)) return shown.error();
    if (!shown) session.note(shown.error().message + "; trying again");
    if (!watch || !session.out() || session.adapters().interruption->wait_for(*every)) return Exit::ok;
  }
}

Result<Exit> list_workers(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  SLUICE_TRY(const auto seen, ops::list_workers(*store));
  std::vector<std::string> texts;
  Table table{"WORKER", "GENERATION", "LISTENER", "STARTED", "SEEN", "HANDLERS"};
  for (const auto& worker : seen.workers) {
    texts.push_back(ops::to_json(worker, seen.now));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    const std::string ago = age_text(worker.seen_at, seen.now) + " ago";
    table.row({worker.identity, std::to_string(worker.generation), worker.listener, clock_text(worker.started_at),
               ops::is_alive(worker, seen.now) ? ago : ago + ", SILENT", joined(worker.handlers, " ")});
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("workers", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  if (seen.workers.empty()) session.note("no worker was seen within a day");
  return Exit::ok;
}

}  // namespace

std::vector<Command> status_commands() {
  return {
      {{"status"},
       "what waits, what runs, what failed, and what needs attention",
       {{"sluice status", ""},
        {"sluice status --watch", "refreshed every two seconds, until Ctrl-C"},
        {"sluice status -o json | jq '.generations[].failed'", ""}},
       {},
       {{"--watch", "", "", "refresh until Ctrl-C"}, {"--every", "", "DURATION", "how often with --watch; default 2s"}},
       false,
       false,
       status}};
}

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
