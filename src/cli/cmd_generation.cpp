// sluice generation: deployment generations.
#include <ostream>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "ops/generations.hpp"
#include "ops/json_object.hpp"

namespace sluice::cli {
namespace {

using Access = Session::Access;

std::string time_or_dash(const std::optional<Timestamp>& at) { return at ? clock_text(*at) : "-"; }

Result<Exit> list(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Access::existing);
  if (!store) return std::move(store).error();
  const auto all = (*store)->deployments();
  if (!all) return all.error();
  std::vector<std::string> texts;
  Table table{"GENERATION", "STATE", "ALLOCATED", "ACTIVATED", "BY", "NOTE"};
  for (const auto& one : *all) {
    texts.push_back(ops::to_json(one));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row({std::to_string(one.generation), std::string{name(one.state)}, clock_text(one.allocated_at),
               time_or_dash(one.activated_at), one.changed_by, one.note});
  }
  if (session.format() == Format::json) session.out() << ops::JsonObject{}.array("generations", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.out(), session.console().color);
  if (all->empty()) session.note("no generation is allocated; events use generation 1");
  return Exit::ok;
}

void print_change(const Session& session, const store::Deployment& deployment) {
  if (session.format() == Format::table) {
    session.out() << deployment.generation << '\n';
    session.note("generation " + std::to_string(deployment.generation) + " is " + std::string{name(deployment.state)});
  } else {
    session.out() << ops::to_json(deployment) << '\n';
  }
}

void print_plan(const Session& session, Generation generation, GenerationState state) {
  if (session.format() == Format::table) {
    session.out() << generation << '\n';
    session.note("dry run: generation " + std::to_string(generation) + " would become " + std::string{name(state)});
    return;
  }
  session.out()
      << ops::JsonObject{}.boolean("dry_run", true).number("generation", generation).text("state", name(state)).str()
      << '\n';
}

Result<std::optional<Generation>> wanted_generation(const Arguments& arguments) {
  const auto text = arguments.positional(0);
  if (!text) return std::optional<Generation>{};
  const auto parsed = parse_generation(*text, "N");
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
  const auto allocated =
      (*store)->allocate_generation(*wanted, session.arguments().value("--note").value_or(""), session.actor(*config));
  if (!allocated) return allocated.error();
  print_change(session, *allocated);
  return Exit::ok;
}

Result<Exit> activate(Session& session) {
  const auto generation = wanted_generation(session.arguments());
  if (!generation) return generation.error();
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Access::existing);
  if (!store) return std::move(store).error();
  if (session.dry_run()) {
    const auto current = ops::preview_move(**store, **generation, GenerationState::live);
    if (!current) return current.error();
    print_plan(session, **generation, GenerationState::live);
    return Exit::ok;
  }
  const auto moved = (*store)->move_generation(**generation, GenerationState::live, session.actor(*config));
  if (!moved) return moved.error();
  print_change(session, *moved);
  return Exit::ok;
}

const Option kActor{"--as", "", "NAME", "who the audit names; default: SLUICE_ACTOR, else user@host", {}, "actor"};
const Option kReason{"--reason", "", "TEXT", "why; goes into the audit"};

}  // namespace

std::vector<Command> generation_commands() {
  return {
      {{"generation", "list"},
       "list deployment generations",
       {{"sluice generation list", ""}},
       {},
       {},
       false,
       false,
       list},
      {{"generation", "allocate"},
       "allocate a generation and print its number",
       {{"sluice generation allocate --note 'release 2026.4'", "the next free number"},
        {"sluice generation allocate 42", "this one"}},
       {{"N", "the number; default: the next free one", false}},
       {{"--note", "", "TEXT", "what it is for"}, kActor, kReason},
       true,
       false,
       allocate},
      {{"generation", "activate"},
       "make a generation live",
       {{"sluice generation activate 42 --reason 'rollout done'", ""}},
       {{"N", "the generation"}},
       {kActor, kReason},
       true,
       false,
       activate},
  };
}

}  // namespace sluice::cli
