#include "cli/generation_change.hpp"

#include <ostream>

#include "core/json_object.hpp"
#include "ops/generations.hpp"

namespace sluice::cli {

Result<Generation> generation_argument(const Arguments& arguments) {
  return parse_generation(arguments.positional(0).value_or(""), "N");
}

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

}  // namespace sluice::cli
