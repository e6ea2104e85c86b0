// sluice generation: deployment generations, from allocation to the gate at the end.
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/parse.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/generations.hpp"
#include "ops/generations_retire.hpp"

namespace sluice::cli {
namespace {

using Access = Session::Access;

std::string time_or_dash(const std::optional<Timestamp>& at) { return at ? clock_text(*at) : "-"; }

void print_change(const Session& session, const store::Deployment& deployment) {
  if (session.format() == Format::table) {
    session.out() << deployment.generation << '\n';
    session.note("generation " + std::to_string(deployment.generation) + " is " + std::string{name(deployment.state)});
  } else {
    session.out() << ops::to_json(deployment) << '\n';
  }
}

void print_unchanged(const Session& session, const store::Deployment& deployment) {
  session.out() << (session.format() == Format::table ? std::to_string(deployment.generation)
                                                      : ops::to_json(deployment))
                << '\n';
  session.note("generation " + std::to_string(deployment.generation) + " is already " +
               std::string{name(deployment.state)} + ": nothing was changed");
}

void print_plan(const Session& session, Generation generation, GenerationState state) {
  if (session.format() == Format::table) {
    session.out() << generation << '\n';
    session.note("dry run: generation " + std::to_string(generation) + " would become " + std::string{name(state)});
    return;
  }
  session.out()
      << JsonObject{}.boolean("dry_run", true).number("generation", generation).text("state", name(state)).str()
      << '\n';
}

// Events of a generation that nobody allocated are in no row of the table.
void name_strays(const Session& session, const ops::GenerationSurvey& survey) {
  for (const auto& status : survey.generations) {
    if (status.state || !status.abandoned()) continue;
    session.note("generation " + std::to_string(status.generation) + ": " + ops::in_words(status));
  }
}

Result<Exit> list_generations(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Access::existing));
  SLUICE_TRY(const auto survey, ops::survey_generations(*store));
  std::vector<std::string> texts;
  Table table{"GENERATION", "STATE", "WORKERS", "ALLOCATED", "ACTIVATED", "BY", "NOTE"};
  for (const auto& one : survey.deployments) {
    const auto status = survey.of(one.generation);
    texts.push_back(ops::to_json(one, status));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row({std::to_string(one.generation), ops::in_words(status), std::to_string(status.workers),
               clock_text(one.allocated_at), time_or_dash(one.activated_at), one.changed_by, one.note});
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("generations", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  if (survey.deployments.empty()) session.note("no generation is allocated; events use generation 1");
  name_strays(session, survey);
  return Exit::ok;
}

Result<std::optional<Generation>> wanted_generation(const Arguments& arguments) {
  if (!arguments.positional(0)) return std::optional<Generation>{};
  SLUICE_TRY(const auto parsed, generation_argument(arguments));
  return std::optional{parsed};
}

Result<Exit> allocate(Session& session) {
  SLUICE_TRY(const auto wanted, wanted_generation(session.arguments()));
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, session.dry_run() ? Access::existing : Access::create));
  if (session.dry_run()) {
    SLUICE_TRY(const auto generation, ops::preview_allocation(*store, wanted));
    print_plan(session, generation, GenerationState::allocated);
    return Exit::ok;
  }
  SLUICE_TRY(const auto allocated,
             ops::allocate_generation(*store, wanted, session.arguments().value("--note").value_or(""),
                                      session.actor(config)));
  print_change(session, allocated);
  return Exit::ok;
}

Result<Exit> move(const Session& session, GenerationState to) {
  SLUICE_TRY(const auto generation, generation_argument(session.arguments()));
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Access::existing));
  if (session.dry_run()) {
    SLUICE_TRY(const auto current, ops::preview_move(*store, generation, to));
    if (current.state == to) {
      print_unchanged(session, current);
    } else {
      print_plan(session, generation, to);
    }
    return Exit::ok;
  }
  SLUICE_TRY(const auto moved, ops::move_generation(*store, generation, to, session.actor(config)));
  if (!moved.changed) {
    print_unchanged(session, moved.deployment);
    return Exit::ok;
  }
  print_change(session, moved.deployment);
  SLUICE_TRY(const auto stamped, ops::default_generation(*store));
  session.note("publishers that name no generation use generation " + std::to_string(stamped));
  return Exit::ok;
}

Result<Exit> activate(Session& session) { return move(session, GenerationState::live); }
Result<Exit> drain(Session& session) { return move(session, GenerationState::draining); }

void print_check(const Session& session, const ops::RetireCheck& check) {
  std::ostream& out = session.out();
  if (session.format() != Format::table) {
    out << ops::to_json(check) << '\n';
    return;
  }
  out << "generation " << check.status.generation << " (" << ops::in_words(check.status) << ") "
      << (check.retirable() ? "can be retired\n" : "cannot be retired:\n");
  for (const std::string& blocker : check.blockers) out << "  " << printable(blocker) << '\n';
  if (check.remarks.empty()) return;
  out << "also:\n";
  for (const std::string& remark : check.remarks) out << "  " << printable(remark) << '\n';
}

// Whoever still publishes to it may have done so between the check and the change.
Result<void> name_the_rest(const Session& session, store::Administering& store, Generation generation) {
  SLUICE_TRY(const auto survey, ops::survey_generations(store));
  const auto left = survey.of(generation).left();
  if (left > 0) {
    session.note(counted(left, "event") + " left behind: move what is pending with `sluice generation reroute " +
                 std::to_string(generation) + " --to M`");
  }
  return {};
}

Result<Exit> retire(Session& session) {
  const Arguments& arguments = session.arguments();
  const bool force = arguments.has("--force");
  if (force && arguments.has("--check")) return invalid("--check", "--check and --force exclude each other");
  SLUICE_TRY(const auto generation, generation_argument(arguments));
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  if (arguments.has("--check")) {
    SLUICE_TRY(const auto check, ops::check_retire(*store, generation));
    print_check(session, check);
    return check.retirable() ? Exit::ok : Exit::findings;
  }
  if (session.dry_run()) {
    SLUICE_TRY(const auto check, ops::check_retire(*store, generation));
    SLUICE_CHECK(ops::allow_retire(check, force));
    print_plan(session, generation, GenerationState::retired);
    return Exit::ok;
  }
  SLUICE_TRY(const auto retired, ops::retire_generation(*store, generation, force, session.actor(config)));
  print_change(session, retired);
  SLUICE_CHECK(name_the_rest(session, *store, generation));
  return Exit::ok;
}

}  // namespace

std::vector<Command> generation_commands() {
  return {
      {{"generation", "list"},
       "list deployment generations, what is left of them, and their workers",
       {{"sluice generation list", ""}},
       {},
       {},
       false,
       false,
       list_generations},
      {{"generation", "allocate"},
       "allocate a generation and print its number",
       {{"sluice generation allocate --note 'release 2026.4'", "the next free number"},
        {"sluice generation allocate 42", "this one"}},
       {{"N", "the number; default: the next free one", false}},
       {{"--note", "", "TEXT", "what it is for"}, actor_flag(), reason_flag()},
       true,
       false,
       allocate},
      {{"generation", "activate"},
       "make a generation live",
       {{"sluice generation activate 42 --reason 'rollout done'", ""},
        {"sluice generation activate 41 --reason 'roll back'", "a draining one becomes live again"}},
       {{"N", "the generation"}},
       {actor_flag(), reason_flag()},
       true,
       false,
       activate},
      {{"generation", "drain"},
       "let a live generation run empty: publishers no longer get it, its workers finish",
       {{"sluice generation drain 41 --reason 'replaced by 42'", ""}},
       {{"N", "the generation"}},
       {actor_flag(), reason_flag()},
       true,
       false,
       drain},
      generation_retire_command(),
      generation_reroute_command(),
  };
}

Command generation_retire_command() {
  return {{"generation", "retire"},
          "end a draining generation; refuses while events are left, and --check says what they are",
          {{"sluice generation retire 41 --check", "exit 0 when it can be retired, 6 when not"},
           {"sluice generation retire 41", "exit 5 while events are pending or in flight"}},
          {{"N", "the generation"}},
          {{"--check", "", "", "change nothing: say what remains and why; exit 6 when it cannot be retired"},
           {"--force", "", "", "leave pending events and events in flight behind"},
           actor_flag(),
           reason_flag()},
          true,
          false,
          retire};
}

}  // namespace sluice::cli
