// sluice contract: schemas of payloads, their snapshots, and the events that wait.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/contract_files.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/contracts.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kDefaultSnapshots = "contracts";

// An empty directory of schemas is a mistake in the build, not a build without events.
Result<ops::ContractSet> read_schemas(const Session& session, std::string_view flag) {
  const auto directory = session.arguments().value(flag);
  const std::string name{flag};
  if (!directory) return invalid(name, name + " must name the directory of schema files");
  SLUICE_TRY(const auto files, read_contract_files(*directory, flag));
  if (files.empty()) return invalid(name, name + ": the directory " + *directory + " has no schema file (*.json)");
  return ops::ContractSet::read(files);
}

std::string snapshots_directory(const Session& session) {
  return session.arguments().value("--snapshots").value_or(std::string{kDefaultSnapshots});
}

Result<ops::ContractSet> read_snapshots(const Session& session) {
  SLUICE_TRY(const auto files, read_contract_files(snapshots_directory(session), "--snapshots"));
  return ops::ContractSet::read(files);
}

void print_findings(const Session& session, const std::vector<ContractFinding>& findings) {
  for (const ContractFinding& finding : findings) {
    if (session.format() == Format::ndjson) session.out() << ops::to_json(finding) << '\n';
    if (session.format() != Format::table) continue;
    session.out() << finding.event_type << " v" << finding.event_version << ": " << printable(finding.message) << " ["
                  << name(finding.severity) << "]\n  " << printable(finding.remedy) << '\n';
  }
  if (session.format() == Format::json) session.out() << ops::to_json(findings) << '\n';
}

bool needs_action(const std::vector<ContractFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const ContractFinding& finding) { return finding.severity != FindingSeverity::note; });
}

void explain_rule(const Session& session, const std::vector<ContractFinding>& findings) {
  if (!has_breaking(findings)) return;
  session.note(
      "within one event type fields are only added, and only optional ones; any other change is a new event type with "
      "a suffix, and a deadline for the old one");
}

Result<Exit> check_snapshots(Session& session) {
  SLUICE_TRY(const auto current, read_schemas(session, "--schemas"));
  SLUICE_TRY(const auto snapshots, read_snapshots(session));
  const auto findings = ops::check_contracts(current, snapshots).findings;
  print_findings(session, findings);
  explain_rule(session, findings);
  if (findings.empty()) session.note("the schemas are as the snapshots have them");
  return needs_action(findings) ? Exit::findings : Exit::ok;
}

std::string snapshot_json(const Session& session, const std::vector<ContractFile>& written, std::size_t unchanged) {
  std::vector<std::string> names;
  names.reserve(written.size());
  for (const ContractFile& file : written) names.push_back(json::quote(file.file_name));
  return JsonObject{}
      .boolean("dry_run", session.dry_run())
      .array("written", names)
      .number("unchanged", static_cast<std::int64_t>(unchanged))
      .str();
}

Result<Exit> snapshot(Session& session) {
  SLUICE_TRY(const auto current, read_schemas(session, "--schemas"));
  auto snapshots = read_snapshots(session);
  if (!snapshots && snapshots.error().code == ErrorCode::not_found) snapshots = ops::ContractSet{};
  if (!snapshots) return snapshots.error();
  const auto check = ops::check_contracts(current, *snapshots);
  if (has_breaking(check.findings)) {
    print_findings(session, check.findings);
    explain_rule(session, check.findings);
    session.note("no snapshot was written");
    return Exit::findings;
  }
  if (!session.dry_run()) {
    SLUICE_CHECK(write_contract_files(snapshots_directory(session), check.to_write));
  }
  if (session.format() != Format::table) {
    session.out() << snapshot_json(session, check.to_write, check.unchanged) << '\n';
    return Exit::ok;
  }
  for (const ContractFile& file : check.to_write) session.out() << file.file_name << '\n';
  const std::string unchanged = "; " + std::to_string(check.unchanged) + " unchanged";
  session.note((session.dry_run() ? "dry run: would write " : "wrote ") + std::to_string(check.to_write.size()) +
               unchanged);
  return Exit::ok;
}

Result<Exit> cross_check(Session& session) {
  SLUICE_TRY(const auto producers, read_schemas(session, "--producer"));
  SLUICE_TRY(const auto consumers, read_schemas(session, "--consumer"));
  const auto findings = ops::cross_check_contracts(producers, consumers);
  print_findings(session, findings);
  if (!has_breaking(findings)) session.note("the consumer can read what the producer publishes");
  return needs_action(findings) ? Exit::findings : Exit::ok;
}

Result<ops::LiveRequest> live_request(const Arguments& arguments) {
  ops::LiveRequest request;
  if (const auto text = arguments.value("--generation")) {
    SLUICE_TRY(request.generation, parse_generation(*text, "--generation"));
  }
  if (const auto text = arguments.value("--limit")) {
    const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), request.offenders);
    if (problem != std::errc{} || stop != text->data() + text->size()) {
      return invalid("--limit", "--limit must be a whole number");
    }
  }
  return request;
}

void print_live(const Session& session, const ops::LiveReport& report) {
  if (session.format() == Format::json) session.out() << ops::to_json(report) << '\n';
  Table table{"ID", "TYPE", "VERSION", "STATUS", "PROBLEM"};
  for (const auto& offender : report.offenders) {
    if (session.format() == Format::ndjson) session.out() << ops::to_json(offender) << '\n';
    table.row({offender.event_id.to_string(), offender.event_type, std::to_string(offender.event_version),
               std::string{name(offender.status)}, offender.message});
  }
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  session.note(std::to_string(report.readable) + " of " + std::to_string(report.events()) +
               " pending and failed events can be read, " + std::to_string(report.unreadable) + " cannot, " +
               std::to_string(report.events_without_schema()) + " have no schema");
  for (const auto& [event_type, count] : report.without_schema) {
    session.detail("no schema for " + event_type + ": " + std::to_string(count));
  }
}

Result<Exit> verify_live(Session& session) {
  SLUICE_TRY(const auto request, live_request(session.arguments()));
  SLUICE_TRY(const auto contracts, read_schemas(session, "--schemas"));
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  SLUICE_TRY(const auto report, ops::verify_live(*store, contracts, request));
  print_live(session, report);
  return report.unreadable == 0 ? Exit::ok : Exit::findings;
}

Result<Exit> export_catalogue(Session& session) {
  SLUICE_TRY(const auto contracts, read_schemas(session, "--schemas"));
  ops::CatalogueInfo info;
  info.title = session.arguments().value("--title").value_or(info.title);
  info.version = session.arguments().value("--release").value_or(info.version);
  const std::string catalogue = ops::asyncapi(contracts, info);
  const auto file = session.arguments().value("--to");
  if (!file) {
    session.out() << catalogue;
    return Exit::ok;
  }
  std::ofstream out{*file, std::ios::binary | std::ios::trunc};
  if (!(out << catalogue << std::flush)) return invalid("--to", "--to: the file " + *file + " cannot be written");
  session.note("wrote " + *file);
  return Exit::ok;
}

const Option kSchemas{"--schemas", "", "DIR", "the schema files that the build wrote"};
const Option kSnapshots{"--snapshots", "", "DIR", "the snapshots, kept in version control; default: contracts"};

}  // namespace

std::vector<Command> contract_commands() {
  return {
      {{"contract", "snapshot"},
       "keep the schemas of a build; refuses a change that is not additive",
       {{"sluice contract snapshot --schemas build/schemas", "then commit the directory contracts"},
        {"sluice contract snapshot --schemas build/schemas --dry-run", "list the files that would be written"}},
       {},
       {kSchemas, kSnapshots},
       true,
       false,
       snapshot},
      {{"contract", "check"},
       "compare the schemas of a build with the snapshots; exit 6 with findings",
       {{"sluice contract check --schemas build/schemas", "in CI, on every change"}},
       {},
       {kSchemas, kSnapshots},
       false,
       false,
       check_snapshots},
      {{"contract", "cross-check"},
       "check that a consumer can read what a producer publishes; exit 6 with findings",
       {{"sluice contract cross-check --producer shop/contracts --consumer billing/schemas", ""}},
       {},
       {{"--producer", "", "DIR", "the schemas of what is published"},
        {"--consumer", "", "DIR", "the schemas of what is read"}},
       false,
       false,
       cross_check},
      {{"contract", "verify-live"},
       "check that a build can read the events that are pending or failed; exit 6 with findings",
       {{"sluice contract verify-live --schemas build/schemas", "before the new build is deployed"}},
       {},
       {kSchemas, {"--limit", "", "N", "list at most this many unreadable events; default 20"}},
       false,
       false,
       verify_live},
      {{"contract", "export"},
       "write an AsyncAPI 3.0 catalogue of the events",
       {{"sluice contract export --schemas contracts --to events.asyncapi.json", ""}},
       {},
       {kSchemas,
        {"--to", "", "FILE", "where to write it; default: standard output"},
        {"--title", "", "TEXT", "title of the catalogue; default: Events"},
        {"--release", "", "TEXT", "version of the catalogue; default: 1.0.0"}},
       false,
       false,
       export_catalogue},
  };
}

}  // namespace sluice::cli
