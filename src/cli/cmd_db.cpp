// sluice db: the schema of a store, its roles and its doorbell.
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/schema.hpp"

namespace sluice::cli {
namespace {

using Access = Session::Access;

std::string to_json(const store::MigrationStep& step) {
  return JsonObject{}
      .number("version", step.version)
      .text("name", step.name)
      .boolean("applied_now", step.applied_now)
      .str();
}

void print_steps(const Session& session, const std::vector<store::MigrationStep>& steps) {
  std::vector<std::string> texts;
  Table table{"VERSION", "NAME", "APPLIED"};
  for (const auto& step : steps) {
    texts.push_back(to_json(step));
    table.row({std::to_string(step.version), step.name,
               step.applied_now    ? "now"
               : session.dry_run() ? "would be"
                                   : "before"});
  }
  switch (session.format()) {
    case Format::json:
      session.out() << JsonObject{}.boolean("dry_run", session.dry_run()).array("migrations", texts).str() << '\n';
      break;
    case Format::ndjson:
      for (const auto& text : texts) session.out() << text << '\n';
      break;
    case Format::table:
      if (!table.empty()) table.print(session.console());
      break;
  }
}

Result<std::vector<store::MigrationStep>> plan(const Session& session, const config::Config& config) {
  auto store = session.open(config, Access::schema);
  if (store) return ops::plan_migration(**store);
  // An embedded file that does not exist yet would get every migration.
  if (store.error().code != ErrorCode::not_found) return std::move(store).error();
  std::vector<store::MigrationStep> steps;
  for (const auto& migration : session.adapters().migrations(config.store.kind)) {
    steps.push_back({migration.version, migration.name, false});
  }
  return steps;
}

Result<Exit> migrate(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  if (session.dry_run()) {
    SLUICE_TRY(const auto steps, plan(session, config));
    print_steps(session, steps);
    session.note(steps.empty() ? "the schema is up to date" : "dry run: nothing was changed");
    return Exit::ok;
  }
  SLUICE_TRY(auto store, session.open(config, Access::create_schema));
  SLUICE_TRY(const auto steps, ops::migrate(*store));
  print_steps(session, steps);
  session.note(ops::name_of(*store) + " is up to date");
  return Exit::ok;
}

Result<Exit> schema_version(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(const auto store, session.open(config, Access::schema));
  SLUICE_TRY(const auto schema, ops::schema_version(*store));
  if (session.format() != Format::table) {
    session.out() << JsonObject{}.number("applied", schema.applied).number("known", schema.known).str() << '\n';
    return Exit::ok;
  }
  session.out() << schema.applied << '\n';
  if (schema.applied < schema.known) {
    session.note("this build carries version " + std::to_string(schema.known) + ": run `sluice db migrate`");
  } else if (schema.applied > schema.known) {
    session.note("this build knows only version " + std::to_string(schema.known) + ": " +
                 std::string{store::kNewerSchemaHint});
  }
  return Exit::ok;
}

Result<Exit> validate_schema(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Access::schema));
  SLUICE_TRY(const auto findings, ops::validate_schema(*store));
  if (session.format() == Format::json) {
    std::vector<std::string> texts;
    for (const auto& finding : findings) texts.push_back(json::quote(finding));
    session.out() << JsonObject{}.array("findings", texts).str() << '\n';
  }
  for (const auto& finding : findings) {
    if (session.format() == Format::table) session.out() << printable(finding) << '\n';
    if (session.format() == Format::ndjson) session.out() << JsonObject{}.text("finding", finding).str() << '\n';
  }
  if (findings.empty()) session.note("the schema is as this build expects it");
  return findings.empty() ? Exit::ok : Exit::findings;
}

Result<Exit> grant(Session& session) {
  const auto role = session.arguments().positional(0);
  const auto member = session.arguments().positional(1);
  if (role && !member)
    return invalid("MEMBER", "name the database role that becomes " + *role + ": sluice db grant ROLE MEMBER");
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Access::schema));
  SLUICE_CHECK(ops::check_grants(*store));

  std::vector<std::string> done;
  if (session.dry_run()) {
    done.emplace_back("would create the roles sluice_publisher, sluice_worker, sluice_operator and sluice_reader");
    if (role) done.push_back("would make " + *member + " a member of sluice_" + *role);
  } else {
    SLUICE_TRY(done, ops::grant(*store, role ? ops::parse_grant(*role) : std::nullopt, member.value_or("")));
  }
  if (session.format() == Format::json) {
    std::vector<std::string> texts;
    texts.reserve(done.size());
    for (const auto& sentence : done) texts.push_back(json::quote(sentence));
    session.out() << JsonObject{}.boolean("dry_run", session.dry_run()).array("done", texts).str() << '\n';
    return Exit::ok;
  }
  for (const auto& sentence : done) {
    session.out() << (session.format() == Format::ndjson ? JsonObject{}.text("done", sentence).str()
                                                         : printable(sentence))
                  << '\n';
  }
  return Exit::ok;
}

std::string to_json(const store::MigrationText& migration) {
  return JsonObject{}
      .number("version", migration.version)
      .text("name", migration.name)
      .text("sql", migration.sql)
      .str();
}

Result<Exit> sql(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  const auto migrations = session.adapters().migrations(config.store.kind);
  std::vector<std::string> texts;
  for (const auto& migration : migrations) {
    if (session.format() == Format::table)
      session.out() << "-- " << migration.name << ".sql\n" << migration.sql << '\n';
    if (session.format() == Format::ndjson) session.out() << to_json(migration) << '\n';
    texts.push_back(to_json(migration));
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("migrations", texts).str() << '\n';
  return Exit::ok;
}

void print_mode(const Session& session, store::DoorbellMode mode) {
  if (session.format() == Format::table) {
    session.out() << name(mode) << '\n';
  } else {
    session.out() << JsonObject{}.text("doorbell", name(mode)).str() << '\n';
  }
}

void print_change(const Session& session, store::DoorbellMode before, store::DoorbellMode after) {
  if (session.format() != Format::table) {
    session.out() << JsonObject{}
                         .boolean("dry_run", session.dry_run())
                         .text("doorbell", name(after))
                         .text("before", name(before))
                         .str()
                  << '\n';
    return;
  }
  session.out() << name(after) << '\n';
  session.note((session.dry_run() ? "dry run: would be " : "is now ") + std::string{name(after)} + ", was " +
               std::string{name(before)});
}

Result<Exit> doorbell(Session& session) {
  const auto wanted = session.arguments().positional(0);
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  SLUICE_TRY(const auto before, ops::doorbell(*store));
  const auto mode = wanted ? ops::parse_doorbell(*wanted) : std::nullopt;
  if (!mode) {
    print_mode(session, before);
    return Exit::ok;
  }
  if (!session.dry_run()) {
    SLUICE_CHECK(ops::set_doorbell(*store, *mode, session.actor(config)));
  }
  print_change(session, before, *mode);
  return Exit::ok;
}

}  // namespace

std::vector<Command> db_commands() {
  return {
      {{"db", "migrate"},
       "bring the schema up to date",
       {{"sluice db migrate --store postgres://owner@db/app", "safe to repeat, and safe when many run it at once"},
        {"sluice db migrate --dry-run", "list what would be applied"}},
       {},
       {},
       true,
       false,
       migrate},
      {{"db", "version"},
       "print the schema version that is applied",
       {{"sluice db version", ""}},
       {},
       {},
       false,
       false,
       schema_version},
      {{"db", "validate"},
       "compare the schema with what this build expects; exit 6 with findings",
       {{"sluice db validate", ""}},
       {},
       {},
       false,
       false,
       validate_schema},
      {{"db", "grant"},
       "create the sluice_* database roles and grant them what they need",
       {{"sluice db grant", "create the roles and their grants"},
        {"sluice db grant publisher app", "and let the role `app` publish"}},
       {{"ROLE", "publisher, worker, operator or reader", false, {"publisher", "worker", "operator", "reader"}},
        {"MEMBER", "an existing database role", false}},
       {},
       true,
       false,
       grant},
      db_doorbell_command(),
      db_index_command(),
      {{"db", "sql"},
       "print the migrations that this build carries",
       {{"sluice db sql --store postgres:// | less", "the PostgreSQL ones; needs no connection"}},
       {},
       {},
       false,
       false,
       sql},
  };
}

Command db_doorbell_command() {
  return {{"db", "doorbell"},
          "print or set when a publish notifies workers: always, or only while every worker is idle",
          {{"sluice db doorbell", "print the mode"},
           {"sluice db doorbell when-idle --reason 'many publishers'", "publishers no longer wait for each other"}},
          {{"MODE", "always or when-idle", false, {"always", "when-idle"}}},
          {actor_flag(), reason_flag()},
          true,
          false,
          doorbell};
}

}  // namespace sluice::cli
