// sluice audit: who did what, through which surface and why.
#include <ostream>

#include "cli/noun.hpp"
#include "cli/numbers.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "ops/audit.hpp"
#include "ops/event_json.hpp"

namespace sluice::cli {
namespace {

Result<ops::AuditRequest> request_of(const Arguments& arguments) {
  ops::AuditRequest request;
  request.filter.actor = arguments.value("--actor").value_or("");
  request.filter.surface = arguments.value("--surface").value_or("");
  request.filter.action = arguments.value("--action").value_or("");
  if (const auto text = arguments.value("--event")) {
    const auto id = Uuid::parse(*text, "--event");
    if (!id) return id.error();
    request.filter.event_id = *id;
  }
  const auto limit = number_of(arguments, {"--limit", request.limit, 1, ops::kMaxPage});
  if (!limit) return limit.error();
  request.limit = *limit;
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
  if (!table.empty()) table.print(session.out(), session.console().color);
  if (list.records.empty()) session.note("no records match");
  if (list.next_cursor) session.note("more records follow: --cursor " + *list.next_cursor);
}

Result<Exit> list_audit(Session& session) {
  auto request = request_of(session.arguments());
  if (!request) return std::move(request).error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  for (const auto& [flag, into] : {std::pair{"--since", &request->filter.since}, {"--until", &request->filter.until}}) {
    const auto text = session.arguments().value(flag);
    if (!text) continue;
    const auto at = parse_since(*text, flag, *opened->store);
    if (!at) return at.error();
    *into = *at;
  }
  const auto found = ops::list_audit(*opened->store, *request);
  if (!found) return found.error();
  print_list(session, *found);
  return Exit::ok;
}

}  // namespace

std::vector<Command> audit_commands() {
  return {{{"audit", "list"},
           "who did what, through which surface and why, newest first",
           {{"sluice audit list --since 1d", ""},
            {"sluice audit list --action 'replay*' --surface mcp -o ndjson", "what agents have replayed"}},
           {},
           {{"--actor", "", "NAME", "who"},
            {"--surface", "", "NAME", "sql, cli, http, console or mcp"},
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

}  // namespace sluice::cli
