// sluice generation retire: the gate at the end of a generation.
#include <ostream>
#include <utility>

#include "cli/audit_flags.hpp"
#include "cli/generation_change.hpp"
#include "cli/noun.hpp"
#include "ops/generations_retire.hpp"

namespace sluice::cli {
namespace {

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
Result<void> name_the_rest(const Session& session, store::Store& store, Generation generation) {
  const auto survey = ops::survey_generations(store);
  if (!survey) return survey.error();
  const auto left = survey->of(generation).left();
  if (left > 0) {
    session.note(std::to_string(left) + (left == 1 ? " event" : " events") +
                 " left behind: move what is pending with `sluice generation reroute " + std::to_string(generation) +
                 " --to M`");
  }
  return {};
}

Result<Exit> retire(Session& session) {
  const Arguments& arguments = session.arguments();
  const bool force = arguments.has("--force");
  if (force && arguments.has("--check")) return invalid("--check", "--check and --force exclude each other");
  const auto generation = generation_argument(arguments);
  if (!generation) return generation.error();
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  if (arguments.has("--check")) {
    const auto check = ops::check_retire(**store, *generation);
    if (!check) return check.error();
    print_check(session, *check);
    return check->retirable() ? Exit::ok : Exit::findings;
  }
  if (session.dry_run()) {
    const auto check = ops::check_retire(**store, *generation);
    if (!check) return check.error();
    if (auto allowed = ops::allow_retire(*check, force); !allowed) return std::move(allowed).error();
    print_plan(session, *generation, GenerationState::retired);
    return Exit::ok;
  }
  const auto retired = ops::retire_generation(**store, *generation, force, session.actor(*config));
  if (!retired) return retired.error();
  print_change(session, *retired);
  if (auto told = name_the_rest(session, **store, *generation); !told) return std::move(told).error();
  return Exit::ok;
}

}  // namespace

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
