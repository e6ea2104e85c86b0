// sluice dlq: look at dead letters. Groups first, then the list, then one event.
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
#include "ops/dead_letters.hpp"
#include "ops/event_json.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kErrorBytes = 60;
constexpr int kCountCap = 1'000'000;

std::string generations_text(const store::FailureGroup& group) {
  std::string text = std::to_string(group.first_generation);
  if (group.last_generation != group.first_generation) text += '-' + std::to_string(group.last_generation);
  return text;
}

std::string state_text(const store::FailureGroup& group) {
  if (!group.came_back_generation) return std::string{ops::state_of(group)};
  return "came back in generation " + std::to_string(*group.came_back_generation) + " (" +
         std::to_string(group.came_back) + ')';
}

void print_groups(const Session& session, const std::vector<store::FailureGroup>& groups, Timestamp now) {
  if (session.format() == Format::json) {
    session.out() << ops::to_json(groups) << '\n';
    return;
  }
  Table table{"COUNT", "CLASS", "FINGERPRINT", "TYPE", "SOURCE", "TARGET", "GEN", "LAST", "FIRST", "STATE", "ERROR"};
  for (const auto& group : groups) {
    if (session.format() == Format::ndjson) {
      session.out() << ops::to_json(group) << '\n';
      continue;
    }
    table.row({std::to_string(group.count), group.error_class, group.fingerprint, group.event_type, group.source,
               group.target.value_or("*"), generations_text(group), age_text(group.last_failed_at, now),
               age_text(group.first_failed_at, now), state_text(group),
               std::string{utf8::prefix(group.sample_error, kErrorBytes)}});
  }
  if (!table.empty()) table.print(session.out(), session.console().color);
  if (groups.empty()) session.note("no dead letters match");
}

Result<Exit> groups(Session& session) {
  const auto query = query_of(session.arguments());
  if (!query) return query.error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  store::Store& store = *opened->store;
  const auto now = ops::now(store);
  if (!now) return now.error();
  const auto filter = query->filter(store);
  if (!filter) return filter.error();
  const auto found = ops::list_groups(store, *filter);
  if (!found) return found.error();
  print_groups(session, *found, *now);
  return Exit::ok;
}

void print_list(const Session& session, const ops::DeadList& list, Timestamp now) {
  if (session.format() == Format::json) {
    session.out() << ops::to_json(list) << '\n';
    return;
  }
  Table table{"ID", "TYPE", "SOURCE", "TARGET", "GEN", "ATTEMPTS", "REPLAYS", "FAILED", "FINGERPRINT", "LAST ERROR"};
  for (const auto& event : list.events) {
    if (session.format() == Format::ndjson) {
      session.out() << ops::to_json(event) << '\n';
      continue;
    }
    const auto& envelope = event.envelope;
    table.row({envelope.event_id().to_string(), envelope.event_type(), envelope.source(),
               envelope.target().value_or("*"), std::to_string(event.generation), std::to_string(event.attempts),
               std::to_string(ops::read_history(event.failure_history).size()),
               event.failed_at ? age_text(*event.failed_at, now) : "-", event.fingerprint.value_or("-"),
               std::string{utf8::prefix(event.last_error.value_or(""), kErrorBytes)}});
  }
  if (!table.empty()) table.print(session.out(), session.console().color);
  if (list.events.empty()) session.note("no dead letters match");
  if (list.next_cursor) session.note("more follow: --cursor " + *list.next_cursor);
}

Result<Exit> list_dead(Session& session) {
  const auto query = query_of(session.arguments());
  if (!query) return query.error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  store::Store& store = *opened->store;
  const auto page = page_of(session.arguments(), *query, store);
  if (!page) return page.error();
  const auto found = ops::list_dead(store, *page);
  if (!found) return found.error();
  const auto now = ops::now(store);
  if (!now) return now.error();
  print_list(session, *found, *now);
  return Exit::ok;
}

Result<Exit> count(Session& session) {
  const auto query = query_of(session.arguments());
  if (!query) return query.error();
  const auto cap = number_of(session.arguments(), {"--cap", kCountCap, 1});
  if (!cap) return cap.error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  store::Store& store = *opened->store;
  const auto filter = query->filter(store);
  if (!filter) return filter.error();
  const auto found = ops::count_dead(store, *filter, *cap);
  if (!found) return found.error();
  if (session.format() == Format::table) {
    session.out() << (found->capped ? ">= " : "") << found->count << '\n';
  } else {
    session.out() << ops::to_json(*found) << '\n';
  }
  return Exit::ok;
}

}  // namespace

std::vector<Command> dlq_commands() {
  std::vector<Command> all{
      {{"dlq", "groups"},
       "dead letters in groups that failed in the same way, the most numerous first",
       {{"sluice dlq groups", "2,000 failures are often three errors"},
        {"sluice dlq groups --since 2h --class timeout", ""}},
       {},
       filter_flags(),
       false,
       false,
       groups},
      {{"dlq", "list"},
       "dead letters, newest failure first",
       {{"sluice dlq list --fingerprint 5f1c0a9be2d47c33", ""},
        {"sluice dlq list --filter 'type:billing.* text:\"connection refused\"' -o ndjson", ""}},
       {},
       page_flags(),
       false,
       false,
       list_dead},
      {{"dlq", "show"},
       "tell the story of one event: envelope, attempts, history, handlers, audit",
       {{"sluice dlq show 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", ""}},
       {{"ID", "event id"}},
       {},
       false,
       false,
       show_event_command},
      {{"dlq", "count"},
       "how many dead letters match",
       {{"sluice dlq count --type 'billing.*'", ""}},
       {},
       combined(filter_flags(), {{"--cap", "", "N", "count no further than this; default 1000000"}}),
       false,
       false,
       count},
  };
  for (Command& command : dlq_change_commands()) all.push_back(std::move(command));
  all.push_back(dlq_ack_command());
  all.push_back(dlq_export_command());
  return all;
}

}  // namespace sluice::cli
