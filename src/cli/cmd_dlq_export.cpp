// sluice dlq export: dead letters as NDJSON without what is private, or one of them as a fixture and a test.
#include <filesystem>
#include <fstream>
#include <ostream>
#include <utility>

#include "cli/filter_flags.hpp"
#include "cli/noun.hpp"
#include "cli/numbers.hpp"
#include "cli/session.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_export.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

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
  if (auto written = write_new(fixture, repro.fixture); !written) return std::move(written).error();
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

Result<Exit> export_ids(const Session& session, store::Store& store, const RedactionPolicy& policy) {
  for (const std::string& text : session.arguments().positionals) {
    const auto id = Uuid::parse(text, "ID");
    if (!id) return id.error();
    const auto event = ops::find_event(store, *id);
    if (!event) return event.error();
    if (session.arguments().value("--repro")) return write_repro(session, *event, policy);
    session.out() << ops::export_json(*event, policy) << '\n';
  }
  return Exit::ok;
}

Result<Exit> export_matching(const Session& session, store::Store& store, const ops::EventQuery& query,
                             const RedactionPolicy& policy) {
  const auto filter = query.filter(store);
  if (!filter) return filter.error();
  const auto most = number_of(session.arguments(), {"--limit", std::numeric_limits<int>::max(), 1});
  if (!most) return most.error();
  ops::ListRequest request{*filter, ops::kMaxPage, std::nullopt};
  for (std::int64_t left = *most; left > 0;) {
    request.limit = static_cast<int>(std::min<std::int64_t>(left, ops::kMaxPage));
    auto page = ops::list_dead(store, request);
    if (!page) return std::move(page).error();
    for (const auto& event : page->events) session.out() << ops::export_json(event, policy) << '\n';
    left -= static_cast<std::int64_t>(page->events.size());
    if (!page->next_cursor || !session.out()) break;
    request.cursor = std::move(page->next_cursor);
  }
  return Exit::ok;
}

Result<Exit> export_events(Session& session) {
  const auto query = query_of(session.arguments());
  if (!query) return query.error();
  const bool by_id = !session.arguments().positionals.empty();
  if (session.arguments().value("--repro") && session.arguments().positionals.size() != 1) {
    return invalid("--repro", "--repro takes exactly one event: give its id");
  }
  if (by_id && !query->empty()) return invalid("--filter", "give event ids or a filter, not both");
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  const auto policy = policy_of(session, opened->config);
  if (!policy) return policy.error();
  return by_id ? export_ids(session, *opened->store, *policy)
               : export_matching(session, *opened->store, *query, *policy);
}

}  // namespace

Command dlq_export_command() {
  return {
      {"dlq", "export"},
      "write dead letters as NDJSON, private values hidden; or one as a fixture and a test",
      {{"sluice dlq export --class timeout > dead.ndjson", ""},
       {"sluice dlq export 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --repro tests/repro", ""}},
      {{"ID", "event ids", false, {}, true}},
      combined(filter_flags(),
               {{"--repro", "", "DIR", "write a fixture and a C++ test of one event into this folder"},
                {"--redact", "", "MODE", "none, fields or values; default: redact.mode", {"none", "fields", "values"}},
                {"--limit", "", "N", "at most this many; default: all"}}),
      false,
      false,
      export_events};
}

}  // namespace sluice::cli
