// sluice event and sluice tail: show events, as they are and as they come.
#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/trace_context.hpp"
#include "core/try.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"
#include "host/local_time.hpp"
#include "ops/event_json.hpp"
#include "ops/event_watch.hpp"

namespace sluice::cli {
namespace {

std::string time_or_empty(const std::optional<Timestamp>& at) { return at ? clock_text(*at) : ""; }

// UTC, and what the clock on the wall shows where that is another time.
std::string both_clocks(const std::optional<Timestamp>& at) {
  if (!at) return "";
  const std::string local = host::local_time(*at);
  return clock_text(*at) + (local.empty() ? "" : " (" + local + ")");
}

std::string tombstone_word(const store::EventRecord& event) {
  return event.status == Status::pending ? "cancelled" : "discarded";
}

void show_envelope(std::ostream& out, const EventEnvelope& envelope, const std::optional<std::string>& trace) {
  out << "\nEnvelope\n";
  print_pairs(out, {{"event_id", envelope.event_id().to_string()},
                    {"event_type", envelope.event_type()},
                    {"event_version", std::to_string(envelope.event_version())},
                    {"occurred_at", both_clocks(envelope.occurred_at())},
                    {"source", envelope.source()},
                    {"target", envelope.target().value_or("(broadcast)")},
                    {"workspace_id", envelope.workspace_id() ? envelope.workspace_id()->to_string() : ""},
                    {"idempotency_key", envelope.idempotency_key()},
                    {"trace_context", envelope.trace_context().value_or("")},
                    {"trace_url", trace.value_or("")},
                    {"payload", envelope.payload()}});
}

std::string waits_text(const std::vector<ops::Wait>& waits) {
  std::string text;
  for (const ops::Wait& wait : waits) text += (text.empty() ? "" : "; ") + wait.detail;
  return text;
}

// Failed ones are what counts against the limit; a delivery took one more.
std::string attempts_text(const store::EventRecord& event) {
  const int made = ops::attempts_made(event);
  return made == event.attempts || event.attempts == 0
             ? std::to_string(made)
             : std::to_string(made) + " (" + std::to_string(event.attempts) + " failed)";
}

// When it is due; nothing where it is only put off until its ordering key is free.
std::string due_text(const ops::EventStory& story) {
  const auto waits_for = [&](ops::Wait::What what) {
    return std::any_of(story.waits_for.begin(), story.waits_for.end(),
                       [&](const ops::Wait& wait) { return wait.what == what; });
  };
  if (waits_for(ops::Wait::What::key) && !waits_for(ops::Wait::What::time)) return "";
  return both_clocks(story.event.retry_after);
}

void show_state(std::ostream& out, const ops::EventStory& story) {
  const store::EventRecord& event = story.event;
  out << "\nState\n";
  print_pairs(out,
              {{"status", std::string{name(event.status)} + (event.deleted_at ? ", " + tombstone_word(event) : "")},
               {"waits_for", waits_text(story.waits_for)},
               {"attempts", attempts_text(event)},
               {"last_error", event.last_error.value_or("")},
               {"error_class", event.error_class.value_or("")},
               {"fingerprint", event.fingerprint.value_or("")},
               {"generation", std::to_string(event.generation)},
               {"channel", event.channel},
               {"content_class", event.content_class},
               {"ordering_key", event.ordering_key.value_or("")},
               {"claimed_by", event.claimed_by.value_or("")},
               {"claim_seq", std::to_string(event.claim_seq)},
               {event.attempts > 0 ? "next retry at" : "scheduled for", due_text(story)},
               {"delivered_at", both_clocks(event.delivered_at)},
               {"failed_at", both_clocks(event.failed_at)},
               {"deleted_at", both_clocks(event.deleted_at)}});
}

std::string handler_detail(const ops::HandlerState& handler) {
  if (handler.handled_at) return clock_text(*handler.handled_at);
  if (handler.attempts == 0) return "";
  return std::to_string(handler.attempts) + " failed: " + handler.last_error;
}

void show_handlers(Console& console, const std::vector<ops::HandlerState>& handlers) {
  console.out << "\nHandlers\n";
  if (handlers.empty()) console.out << "  nobody subscribes to it, and none has handled it\n";
  Table table{"HANDLER", "STATE", "DETAIL"};
  for (const auto& handler : handlers) {
    std::string state{name(handler.state)};
    std::replace(state.begin(), state.end(), '_', ' ');
    table.row({handler.handler_name, std::move(state), handler_detail(handler)});
  }
  if (!table.empty()) table.print(console);
}

void show_history(Console& console, const store::EventRecord& event) {
  const auto history = ops::read_history(event.failure_history);
  Table table{"CYCLE", "ATTEMPTS", "FAILED", "REPLAYED", "BY", "ERROR"};
  for (const auto& cycle : history) {
    table.row({std::to_string(cycle.cycle), std::to_string(cycle.attempts), time_or_empty(cycle.failed_at),
               time_or_empty(cycle.replayed_at), cycle.replayed_by, cycle.last_error});
  }
  if (table.empty()) return;
  console.out << "\nFailure history\n";
  table.print(console);
  for (const auto& cycle : history) {
    if (cycle.payload.empty()) continue;
    console.out << "payload before replay " << cycle.cycle << ": " << printable(cycle.payload) << '\n';
  }
}

void show_audit(Console& console, const std::vector<store::AuditRecord>& audit) {
  if (audit.empty()) return;
  console.out << "\nAudit\n";
  Table table{"AT", "ACTION", "WHO", "THROUGH", "WHY"};
  for (const auto& record : audit) {
    table.row({clock_text(record.at), record.action, record.actor.name, record.actor.surface, record.actor.reason});
  }
  table.print(console);
}

// What the table has no room for; the error may be what the receiver said.
void add_notes(Table& table, const Attempt& attempt, const std::string& trace_address) {
  if (!attempt.response.empty() && attempt.error.find(attempt.response) == std::string::npos) {
    table.note("answer: " + attempt.response);
  }
  if (!attempt.trace_id.empty()) {
    table.note("trace: " + trace_url_of(trace_address, attempt.trace_id).value_or(attempt.trace_id));
  }
}

void show_attempts(Console& console, const std::vector<store::AttemptRecord>& attempts,
                   const std::string& trace_address) {
  if (attempts.empty()) return;
  console.out << "\nAttempts\n";
  Table table{"#", "STARTED", "TOOK", "HANDLER", "OUTCOME", "STATUS", "WORKER", "ERROR"};
  for (const auto& [number, claim_seq, replay, attempt] : attempts) {
    table.row({std::to_string(number), clock_text(attempt.started_at), brief_duration(attempt.took),
               attempt.handler_name, std::string{name(attempt.outcome)},
               attempt.status_code == 0 ? "" : std::to_string(attempt.status_code), attempt.worker, attempt.error});
    add_notes(table, attempt, trace_address);
  }
  table.print(console);
}

constexpr std::size_t kShownErrorBytes = 60;

// --status is the one key that only this list has as a flag.
Result<ops::EventQuery> list_query(const Arguments& arguments) {
  auto query = query_of(arguments);
  if (!query) return query;
  if (auto status = arguments.value("--status")) {
    SLUICE_CHECK(query->add("status", *std::move(status), "--status"));
  }
  return query;
}

void print_list(const Session& session, const ops::EventList& list, Timestamp now) {
  if (session.format() == Format::json) {
    session.out() << ops::to_json(list) << '\n';
    return;
  }
  Table table{"ID", "TYPE", "STATUS", "ATTEMPTS", "GEN", "SOURCE", "TARGET", "AGE", "LAST ERROR"};
  for (const auto& event : list.events) {
    if (session.format() == Format::ndjson) {
      session.out() << ops::to_json(event) << '\n';
      continue;
    }
    const auto& envelope = event.envelope;
    table.row({envelope.event_id().to_string(), envelope.event_type(),
               std::string{name(event.status)} + (event.deleted_at ? " (" + tombstone_word(event) + ")" : ""),
               std::to_string(ops::attempts_made(event)), std::to_string(event.generation), envelope.source(),
               envelope.target().value_or("*"), age_text(envelope.occurred_at(), now),
               std::string{utf8::prefix(event.last_error.value_or(""), kShownErrorBytes)}});
  }
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  if (list.events.empty()) session.note("no events match");
  if (list.next_cursor) session.note("more events follow: --cursor " + *list.next_cursor);
}

Result<Exit> list_events(Session& session) {
  SLUICE_TRY(const auto query, list_query(session.arguments()));
  SLUICE_CHECK(number_of(session.arguments(), {"--limit", 1, 1, ops::kMaxPage}));
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(auto request, page_of(session.arguments(), query, *opened.store));
  request.filter.include_deleted = session.arguments().has("--discarded");
  request.filter.heads_only = session.format() == Format::table;
  SLUICE_TRY(const auto events, ops::list_events(*opened.store, request));
  SLUICE_TRY(const auto now, ops::now(*opened.store));
  print_list(session, events, now);
  return Exit::ok;
}

constexpr Duration kLookEvery = std::chrono::milliseconds{500};
constexpr int kFirst = 10;

void print_line(const Session& session, const store::EventRecord& event) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(event) << std::endl;
    return;
  }
  const auto& envelope = event.envelope;
  std::string line = clock_text(event.failed_at.value_or(event.delivered_at.value_or(event.published_at))) + ' ' +
                     std::string{name(event.status)} + ' ' + envelope.event_type() + ' ' +
                     envelope.event_id().to_string();
  if (event.attempts > 0) line += ", " + counted(event.attempts, "failed attempt");
  if (event.last_error) line += ": " + *event.last_error;
  session.out() << printable(line) << std::endl;
}

// The filter may stand there without --filter, as one word.
Result<ops::EventQuery> query(const Arguments& arguments) {
  Arguments given = arguments;
  if (const auto words = arguments.positional(0)) {
    if (given.value("--filter")) return invalid("--filter", "the filter is given twice");
    given.values["--filter"] = *words;
  }
  return query_of(given);
}

Result<Exit> tail(Session& session) {
  SLUICE_TRY(const auto wanted, query(session.arguments()));
  SLUICE_TRY(const auto first, number_of(session.arguments(), {"--lines", kFirst, 0, ops::EventTail::kWatched}));
  session.adapters().interruption->arm();
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(auto filter, wanted.filter(*opened.store));
  ops::EventTail events{std::move(filter)};
  do {
    const auto changed = events.next(*opened.store, first);
    if (!changed && changed.error().retry == Retry::never) return changed.error();
    if (!changed) session.note(changed.error().message + "; trying again");
    if (changed) {
      for (const auto& event : *changed) print_line(session, event);
    }
    if (session.arguments().has("--once")) return Exit::ok;
  } while (session.out() && !session.adapters().interruption->wait_for(kLookEvery));
  return Exit::ok;
}

void show_timeline(Console& console, const std::vector<ops::Moment>& timeline) {
  const bool elsewhere = std::any_of(timeline.begin(), timeline.end(),
                                     [](const ops::Moment& moment) { return !host::local_time(moment.at).empty(); });
  Table table = elsewhere ? Table{"AT", "LOCAL", "WHAT", "DETAIL"} : Table{"AT", "WHAT", "DETAIL"};
  for (const auto& moment : timeline) {
    std::vector<std::string> cells{clock_text(moment.at), moment.what, moment.detail};
    if (elsewhere) cells.insert(cells.begin() + 1, host::local_time(moment.at));
    table.row(std::move(cells));
  }
  table.print(console);
}

void show_event(Console& console, const ops::EventStory& story, const std::string& trace_address) {
  std::ostream& out = console.out;
  const auto& event = story.event;
  out << printable(event.envelope.event_type()) << ' ' << event.envelope.event_id().to_string() << " is "
      << name(event.status) << '\n';
  show_envelope(out, event.envelope, trace_url(trace_address, event.envelope.trace_context()));
  show_state(out, story);
  out << "\nTimeline\n";
  show_timeline(console, story.timeline);
  show_attempts(console, story.attempts, trace_address);
  show_handlers(console, story.handlers);
  show_history(console, event);
  show_audit(console, story.audit);
}

}  // namespace

Result<Exit> show_event_command(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto id, event_argument(session.arguments(), *opened.store));
  SLUICE_TRY(const auto story, ops::tell_story(*opened.store, id));
  if (session.format() == Format::table) {
    show_event(session.console(), story, opened.config.trace_url);
  } else {
    const auto trace = trace_url(opened.config.trace_url, story.event.envelope.trace_context());
    session.out() << JsonObject{ops::to_json(story)}.text("trace_url", trace).str() << '\n';
  }
  return Exit::ok;
}

std::vector<Command> event_commands() {
  std::vector<Command> commands{
      {{"event", "list"},
       "list events, newest first",
       {{"sluice event list --status failed --since 2h", ""},
        {"sluice event list --type 'billing.*' -o ndjson | jq .event_id", ""}},
       {},
       combined({{"--status",
                  "",
                  "STATUS",
                  "pending, in_flight, delivered or failed",
                  {"pending", "in_flight", "delivered", "failed"}},
                 {"--discarded", "", "", "include discarded and cancelled events"}},
                page_flags()),
       false,
       false,
       list_events},
      {{"event", "show"},
       "tell the story of one event: envelope, state, timeline, attempts, handlers, history, audit",
       {{"sluice event show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", ""},
        {"sluice event show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e -o json", "the whole record"}},
       {{"ID", "event id, or its first 8 digits or more"}},
       {},
       false,
       false,
       show_event_command},
  };
  for (Command& command : event_change_commands()) commands.push_back(std::move(command));
  return commands;
}

std::vector<Command> tail_commands() {
  return {{{"tail"},
           "follow events: a line when one appears and when its state changes; Ctrl-C ends it",
           {{"sluice tail", ""}, {"sluice tail 'type:billing.* status:failed'", ""}},
           {{"FILTER", "as --filter", false}},
           combined(filter_flags(), {{"--lines", "", "N", "begin with the newest N; default 10"},
                                     {"--once", "", "", "print them and end"}}),
           false,
           false,
           tail}};
}

}  // namespace sluice::cli
