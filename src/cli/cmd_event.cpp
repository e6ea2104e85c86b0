// sluice event: look at events.
#include <ostream>
#include <utility>

#include "cli/filter_flags.hpp"
#include "cli/noun.hpp"
#include "cli/numbers.hpp"
#include "cli/session.hpp"
#include "cli/show_event.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "core/utf8.hpp"
#include "ops/event_json.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kShownErrorBytes = 60;

// --status is the one key that only this list has as a flag.
Result<ops::EventQuery> list_query(const Arguments& arguments) {
  auto query = query_of(arguments);
  if (!query) return query;
  if (auto status = arguments.value("--status")) {
    if (auto added = query->add("status", *std::move(status), "--status"); !added) return std::move(added).error();
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
               std::string{name(event.status)} + (event.deleted_at ? " (discarded)" : ""),
               std::to_string(event.attempts), std::to_string(event.generation), envelope.source(),
               envelope.target().value_or("*"), age_text(envelope.occurred_at(), now),
               std::string{utf8::prefix(event.last_error.value_or(""), kShownErrorBytes)}});
  }
  if (session.format() == Format::table && !table.empty()) table.print(session.out(), session.console().color);
  if (list.events.empty()) session.note("no events match");
  if (list.next_cursor) session.note("more events follow: --cursor " + *list.next_cursor);
}

Result<Exit> list_events(Session& session) {
  const auto query = list_query(session.arguments());
  if (!query) return query.error();
  const auto limit = number_of(session.arguments(), {"--limit", 1, 1, ops::kMaxPage});
  if (!limit) return limit.error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  auto request = page_of(session.arguments(), *query, *opened->store);
  if (!request) return std::move(request).error();
  request->filter.include_deleted = session.arguments().has("--discarded");
  const auto events = ops::list_events(*opened->store, *request);
  if (!events) return events.error();
  const auto now = ops::now(*opened->store);
  if (!now) return now.error();
  print_list(session, *events, *now);
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
       combined({{"--status",
                  "",
                  "STATUS",
                  "pending, in_flight, delivered or failed",
                  {"pending", "in_flight", "delivered", "failed"}},
                 {"--discarded", "", "", "include discarded events"}},
                page_flags()),
       false,
       false,
       list_events},
      {{"event", "show"},
       "tell the story of one event: envelope, state, timeline, handlers, history, audit",
       {{"sluice event show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", ""},
        {"sluice event show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e -o json", "the whole record"}},
       {{"ID", "event id"}},
       {},
       false,
       false,
       show_event_command},
  };
}

}  // namespace sluice::cli
