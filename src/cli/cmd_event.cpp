// sluice event: look at events.
#include <charconv>
#include <ostream>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/show_event.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "core/utf8.hpp"
#include "ops/event_json.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kErrorBytes = 60;

Result<int> parse_limit(const std::string& text) {
  int limit = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (problem != std::errc{} || stop != text.data() + text.size()) {
    return invalid("--limit", "--limit must be a whole number from 1 to " + std::to_string(ops::kMaxPage));
  }
  return limit;
}

// What needs no store, so that a typo costs no connection.
Result<ops::ListRequest> list_request(const Arguments& arguments) {
  ops::ListRequest request;
  auto& filter = request.filter;
  if (const auto status = arguments.value("--status")) filter.status = parse_status(*status);
  filter.event_type = arguments.value("--type").value_or("");
  filter.source = arguments.value("--source").value_or("");
  filter.target = arguments.value("--target").value_or("");
  filter.include_deleted = arguments.has("--discarded");
  if (const auto text = arguments.value("--generation")) {
    const auto generation = parse_generation(*text, "--generation");
    if (!generation) return generation.error();
    filter.generation = *generation;
  }
  if (const auto text = arguments.value("--workspace")) {
    const auto workspace = Uuid::parse(*text, "--workspace");
    if (!workspace) return workspace.error();
    filter.workspace_id = *workspace;
  }
  if (const auto text = arguments.value("--limit")) {
    const auto limit = parse_limit(*text);
    if (!limit) return limit.error();
    request.limit = *limit;
  }
  request.cursor = arguments.value("--cursor");
  return request;
}

Result<void> add_times(const Arguments& arguments, store::Administering& store, store::EventFilter& filter) {
  for (const auto& [flag, into] : {std::pair{"--since", &filter.since}, std::pair{"--until", &filter.until}}) {
    const auto text = arguments.value(flag);
    if (!text) continue;
    const auto at = parse_since(*text, flag, store);
    if (!at) return at.error();
    *into = *at;
  }
  return {};
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
               std::string{name(event.status)} + (event.deleted_at ? " (discarded)" : ""),
               std::to_string(event.attempts), std::to_string(event.generation), envelope.source(),
               envelope.target().value_or("*"), age_text(envelope.occurred_at(), now),
               std::string{utf8::prefix(event.last_error.value_or(""), kErrorBytes)}});
  }
  if (session.format() == Format::table && !table.empty()) table.print(session.out(), session.console().color);
  if (list.events.empty()) session.note("no events match");
  if (list.next_cursor) session.note("more events follow: --cursor " + *list.next_cursor);
}

Result<Exit> list(Session& session) {
  auto request = list_request(session.arguments());
  if (!request) return std::move(request).error();
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  const auto timed = add_times(session.arguments(), **store, request->filter);
  if (!timed) return timed.error();
  const auto events = ops::list_events(**store, *request);
  if (!events) return events.error();
  const auto now = (*store)->now();
  if (!now) return now.error();
  print_list(session, *events, *now);
  return Exit::ok;
}

Result<Exit> show(Session& session) {
  const auto id = Uuid::parse(session.arguments().positionals.front(), "ID");
  if (!id) return id.error();
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  const auto story = ops::tell_story(**store, *id);
  if (!story) return story.error();
  if (session.format() == Format::table) {
    show_event(session.console(), *story);
  } else {
    session.out() << ops::to_json(*story) << '\n';
  }
  return Exit::ok;
}

}  // namespace

std::vector<Command> event_commands() {
  return {
      {{"event", "list"},
       "list events, newest first",
       {{"sluice event list --status failed --since 2h", ""},
        {"sluice event list --type 'billing.*' -o ndjson | jq .event_id", ""}},
       {},
       {{"--status",
         "",
         "STATUS",
         "pending, in_flight, delivered or failed",
         {"pending", "in_flight", "delivered", "failed"}},
        {"--type", "", "TYPE", "exact type, or a prefix followed by *"},
        {"--source", "", "CONTEXT", "producing context"},
        {"--target", "", "CONTEXT", "receiving context"},
        {"--workspace", "", "UUID", "workspace"},
        {"--since", "", "TIME", "occurred at or after: 2h (ago) or 2026-04-25T01:43:02Z"},
        {"--until", "", "TIME", "occurred before, in the same forms"},
        {"--discarded", "", "", "include discarded events"},
        {"--limit", "", "N", "at most this many, up to 1000; default 50"},
        {"--cursor", "", "CURSOR", "continue where the page before ended"}},
       false,
       false,
       list},
      {{"event", "show"},
       "tell the story of one event: envelope, state, timeline, handlers, history, audit",
       {{"sluice event show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", ""},
        {"sluice event show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e -o json", "the whole record"}},
       {{"ID", "event id"}},
       {},
       false,
       false,
       show},
  };
}

}  // namespace sluice::cli
