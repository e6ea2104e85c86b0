// sluice generation: deployment generations.
#include <ostream>
#include <utility>

#include "cli/audit_flags.hpp"
#include "cli/generation_change.hpp"
#include "cli/noun.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "core/json_object.hpp"
#include "ops/generations.hpp"
#include "ops/generations_status.hpp"

namespace sluice::cli {
namespace {

using Access = Session::Access;

std::string time_or_dash(const std::optional<Timestamp>& at) { return at ? clock_text(*at) : "-"; }

// Events of a generation that nobody allocated are in no row of the table.
void name_strays(const Session& session, const ops::GenerationSurvey& survey) {
  for (const auto& status : survey.generations) {
    if (status.state || !status.abandoned()) continue;
    session.note("generation " + std::to_string(status.generation) + ": " + ops::in_words(status));
  }
}

Result<Exit> list_generations(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Access::existing);
  if (!store) return std::move(store).error();
  const auto survey = ops::survey_generations(**store);
  if (!survey) return survey.error();
  std::vector<std::string> texts;
  Table table{"GENERATION", "STATE", "WORKERS", "ALLOCATED", "ACTIVATED", "BY", "NOTE"};
  for (const auto& one : survey->deployments) {
    const auto status = survey->of(one.generation);
    texts.push_back(ops::to_json(one, status));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row({std::to_string(one.generation), ops::in_words(status), std::to_string(status.workers),
               clock_text(one.allocated_at), time_or_dash(one.activated_at), one.changed_by, one.note});
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("generations", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.out(), session.console().color);
  if (survey->deployments.empty()) session.note("no generation is allocated; events use generation 1");
  name_strays(session, *survey);
  return Exit::ok;
}

Result<std::optional<Generation>> wanted_generation(const Arguments& arguments) {
  if (!arguments.positional(0)) return std::optional<Generation>{};
  const auto parsed = generation_argument(arguments);
  if (!parsed) return parsed.error();
  return std::optional{*parsed};
}

Result<Exit> allocate(Session& session) {
  const auto wanted = wanted_generation(session.arguments());
  if (!wanted) return wanted.error();
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, session.dry_run() ? Access::existing : Access::create);
  if (!store) return std::move(store).error();
  if (session.dry_run()) {
    const auto generation = ops::preview_allocation(**store, *wanted);
    if (!generation) return generation.error();
    print_plan(session, *generation, GenerationState::allocated);
    return Exit::ok;
  }
  const auto allocated = ops::allocate_generation(**store, *wanted, session.arguments().value("--note").value_or(""),
                                                  session.actor(*config));
  if (!allocated) return allocated.error();
  print_change(session, *allocated);
  return Exit::ok;
}

Result<Exit> move(const Session& session, GenerationState to) {
  const auto generation = generation_argument(session.arguments());
  if (!generation) return generation.error();
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Access::existing);
  if (!store) return std::move(store).error();
  if (session.dry_run()) {
    const auto current = ops::preview_move(**store, *generation, to);
    if (!current) return current.error();
    if (current->state == to) {
      print_unchanged(session, *current);
    } else {
      print_plan(session, *generation, to);
    }
    return Exit::ok;
  }
  const auto moved = ops::move_generation(**store, *generation, to, session.actor(*config));
  if (!moved) return moved.error();
  if (!moved->changed) {
    print_unchanged(session, moved->deployment);
    return Exit::ok;
  }
  print_change(session, moved->deployment);
  const auto stamped = ops::default_generation(**store);
  if (!stamped) return stamped.error();
  session.note("publishers that name no generation use generation " + std::to_string(*stamped));
  return Exit::ok;
}

Result<Exit> activate(Session& session) { return move(session, GenerationState::live); }
Result<Exit> drain(Session& session) { return move(session, GenerationState::draining); }

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

}  // namespace sluice::cli
