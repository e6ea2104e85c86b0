// sluice dlq: show dead letters, groups first, then the list, then one event; or write them as NDJSON without what is
// private, or one of them as a fixture and a test.
#include <filesystem>
#include <fstream>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "core/utf8.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_json.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

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
  if (!table.empty()) table.print(session.console());
  if (groups.empty()) session.note("no dead letters match");
}

Result<Exit> groups(Session& session) {
  SLUICE_TRY(const auto query, query_of(session.arguments()));
  SLUICE_TRY(const auto opened, session.open_existing());
  store::Administering& store = *opened.store;
  SLUICE_TRY(const auto now, ops::now(store));
  SLUICE_TRY(const auto filter, query.filter(store));
  SLUICE_TRY(const auto found, ops::list_groups(store, filter));
  print_groups(session, found, now);
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
  if (!table.empty()) table.print(session.console());
  if (list.events.empty()) session.note("no dead letters match");
  if (list.next_cursor) session.note("more follow: --cursor " + *list.next_cursor);
}

Result<Exit> list_dead(Session& session) {
  SLUICE_TRY(const auto query, query_of(session.arguments()));
  SLUICE_TRY(const auto opened, session.open_existing());
  store::Administering& store = *opened.store;
  SLUICE_TRY(auto page, page_of(session.arguments(), query, store));
  page.filter.heads_only = session.format() == Format::table;
  SLUICE_TRY(const auto found, ops::list_dead(store, page));
  SLUICE_TRY(const auto now, ops::now(store));
  print_list(session, found, now);
  return Exit::ok;
}

Result<Exit> count(Session& session) {
  SLUICE_TRY(const auto query, query_of(session.arguments()));
  SLUICE_TRY(const auto cap, number_of(session.arguments(), {"--cap", kCountCap, 1}));
  SLUICE_TRY(const auto opened, session.open_existing());
  store::Administering& store = *opened.store;
  SLUICE_TRY(const auto filter, query.filter(store));
  SLUICE_TRY(const auto found, ops::count_dead(store, filter, cap));
  if (session.format() == Format::table) {
    session.out() << (found.capped ? ">= " : "") << found.count << '\n';
  } else {
    session.out() << ops::to_json(found) << '\n';
  }
  return Exit::ok;
}

Error cannot_write(const fs::path& path) {
  return {ErrorCode::exhausted, Retry::never, "cannot write " + path.string(), "--repro",
          "give a folder that can be written"};
}

// A file that exists is somebody's work: it is never overwritten.
Result<void> write_new(const fs::path& path, const std::string& text) {
  std::error_code problem;
  if (fs::exists(path, problem)) {
    return Error{ErrorCode::conflict, Retry::never, path.string() + " exists already", "--repro",
                 "move it away, or give another folder"};
  }
  std::ofstream file{path, std::ios::binary};
  file << text;
  file.close();
  if (file) return {};
  fs::remove(path, problem);
  return cannot_write(path);
}

Result<Exit> write_repro(const Session& session, const store::EventRecord& event, const RedactionPolicy& policy) {
  const fs::path folder = *session.arguments().value("--repro");
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return cannot_write(folder);
  const ops::Repro repro = ops::make_repro(event, policy);
  const fs::path fixture = folder / (repro.name + ".json");
  const fs::path test = folder / (repro.name + "_test.cpp");
  SLUICE_CHECK(write_new(fixture, repro.fixture));
  if (auto written = write_new(test, repro.test); !written) {
    fs::remove(fixture, problem);
    return std::move(written).error();
  }
  session.out() << fixture.string() << '\n' << test.string() << '\n';
  return Exit::ok;
}

Result<RedactionPolicy> policy_of(const Session& session, const config::Config& config) {
  RedactionPolicy policy = config.redaction;
  const auto mode = session.arguments().value("--redact");
  if (mode == "none") policy.mode = RedactionPolicy::Mode::none;
  if (mode == "fields") policy.mode = RedactionPolicy::Mode::fields;
  if (mode == "values") policy.mode = RedactionPolicy::Mode::values;
  return policy;
}

Result<Exit> export_ids(const Session& session, store::Administering& store, const RedactionPolicy& policy) {
  for (const std::string& text : session.arguments().positionals) {
    SLUICE_TRY(const auto id, ops::whole_id(store, text, "ID"));
    SLUICE_TRY(const auto event, ops::find_event(store, id));
    if (session.arguments().value("--repro")) return write_repro(session, event, policy);
    session.out() << ops::export_json(event, policy) << '\n';
  }
  return Exit::ok;
}

Result<Exit> export_matching(const Session& session, store::Administering& store, const ops::EventQuery& query,
                             const RedactionPolicy& policy) {
  SLUICE_TRY(const auto filter, query.filter(store));
  SLUICE_TRY(const auto most, number_of(session.arguments(), {"--limit", std::numeric_limits<int>::max(), 1}));
  ops::ListRequest request{filter, ops::kMaxPage, std::nullopt};
  for (std::int64_t left = most; left > 0;) {
    request.limit = static_cast<int>(std::min<std::int64_t>(left, ops::kMaxPage));
    SLUICE_TRY(auto page, ops::list_dead(store, request));
    for (const auto& event : page.events) session.out() << ops::export_json(event, policy) << '\n';
    left -= static_cast<std::int64_t>(page.events.size());
    if (!page.next_cursor || !session.out()) break;
    request.cursor = std::move(page.next_cursor);
  }
  return Exit::ok;
}

Result<Exit> export_events(Session& session) {
  SLUICE_TRY(const auto query, query_of(session.arguments()));
  const bool by_id = !session.arguments().positionals.empty();
  if (session.arguments().value("--repro") && session.arguments().positionals.size() != 1) {
    return invalid("--repro", "--repro takes exactly one event: give its id");
  }
  if (by_id && !query.empty()) return invalid("--filter", "give event ids or a filter, not both");
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto policy, policy_of(session, opened.config));
  return by_id ? export_ids(session, *opened.store, policy) : export_matching(session, *opened.store, query, policy);
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
       {{"ID", "event id, or its first 8 digits or more"}},
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
  for (Command& command : dlq_group_commands()) all.push_back(std::move(command));
  all.push_back(dlq_ack_command());
  all.push_back(dlq_export_command());
  return all;
}

Command dlq_export_command() {
  return {
      {"dlq", "export"},
      "write dead letters as NDJSON, private values hidden; or one as a fixture and a test",
      {{"sluice dlq export --class timeout > dead.ndjson", ""},
       {"sluice dlq export 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --repro tests/repro", ""}},
      {{"ID", "event ids, or their first 8 digits or more", false, {}, true}},
      combined(filter_flags(),
               {{"--repro", "", "DIR", "write a fixture and a C++ test of one event into this folder"},
                {"--redact", "", "MODE", "none, fields or values; default: redact.mode", {"none", "fields", "values"}},
                {"--limit", "", "N", "at most this many; default: all"}}),
      false,
      false,
      export_events};
}

}  // namespace sluice::cli
