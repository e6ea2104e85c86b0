// sluice event run-now, reschedule, cancel, restore, resend: change one event that is no dead letter.
#include <functional>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_change.hpp"

namespace sluice::cli {
namespace {

/// What was done, for programs and for people: `0196b2f1-… is cancelled`.
struct Told {
  std::string json;
  std::string words;
};
using MakeChange = std::function<Result<Told>(store::Administering&, const Uuid&, const store::Actor&)>;

/// What is done to the event, before and behind its name: `run … now`.
struct Change {
  std::string before;
  std::string behind{};

  [[nodiscard]] std::string of(const std::string& event) const { return before + ' ' + event + behind; }
};

Result<Exit> change_event(Session& session, const Change& change, const MakeChange& make) {
  SLUICE_CHECK(check_reason(session));
  SLUICE_CHECK(check_answerable(session, change.of("it")));
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto id, event_argument(session.arguments(), *opened.store));
  if (session.dry_run()) {
    SLUICE_TRY(const auto event, ops::find_event(*opened.store, id));
    session.out() << id.to_string() << " is " << name(event.status) << '\n';
    session.note("dry run: would " + change.of("it"));
    return Exit::ok;
  }
  SLUICE_TRY(const auto agreed, confirm(session, change.of("event " + id.to_string())));
  if (!agreed) return declined(session);
  SLUICE_TRY(const auto told, make(*opened.store, id, session.actor(opened.config)));
  if (session.format() == Format::table) {
    session.out() << id.to_string() << ' ' << told.words << '\n';
  } else {
    session.out() << told.json << '\n';
  }
  return Exit::ok;
}

Result<Exit> run_event_now(Session& session) {
  return change_event(session, {"run", " now"}, [](auto& store, const Uuid& id, const auto& actor) -> Result<Told> {
    SLUICE_TRY(const auto done, ops::run_now(store, id, actor));
    return Told{ops::to_json(done), "is due: the next free worker takes it"};
  });
}

Result<Exit> reschedule_event(Session& session) {
  const auto at = session.arguments().value("--at");
  if (!at) return invalid("--at", "--at is required: a time, or a duration from now like 2h");
  return change_event(session, {"reschedule"}, [&at](auto& store, const Uuid& id, const auto& actor) -> Result<Told> {
    SLUICE_TRY(const auto done, ops::reschedule(store, id, *at, actor, "--at"));
    return Told{ops::to_json(done), "is scheduled for " + clock_text(*done.due)};
  });
}

Result<Exit> cancel_event(Session& session) {
  return change_event(session, {"cancel"}, [](auto& store, const Uuid& id, const auto& actor) -> Result<Told> {
    SLUICE_TRY(const auto done, ops::cancel_event(store, id, actor));
    return Told{ops::to_json(done), "is cancelled; `sluice event restore` takes that back"};
  });
}

Result<Exit> restore_one_event(Session& session) {
  return change_event(session, {"restore"}, [](auto& store, const Uuid& id, const auto& actor) -> Result<Told> {
    SLUICE_CHECK(ops::restore_event(store, id, actor));
    SLUICE_TRY(const auto event, ops::find_event(store, id));
    return Told{ops::discarded_json(id, false), restored_words(event)};
  });
}

Result<Exit> resend_event(Session& session) {
  const auto handler = session.arguments().value("--handler");
  if (!handler) return invalid("--handler", "--handler is required: the handler that gets the event again");
  std::optional<Generation> generation;
  if (const auto text = session.arguments().value("--to-generation")) {
    SLUICE_TRY(generation, parse_generation(*text, "--to-generation"));
  }
  return change_event(session, {"send", " to " + *handler + " again"},
                      [&](auto& store, const Uuid& id, const auto& actor) -> Result<Told> {
                        SLUICE_TRY(const auto config, session.config());
                        const auto exporting = session.exporting(config);
                        SLUICE_TRY(const auto report,
                                   ops::resend_event(store, {id, *handler, generation}, actor, tracer_of(exporting)));
                        return Told{ops::to_json(report), "is pending in generation " +
                                                              std::to_string(report.to_generation) + ", for " +
                                                              *handler + " alone"};
                      });
}

Command change_command(std::string_view verb, std::string_view summary, std::string_view example,
                       std::vector<Option> options, Result<Exit> (*run)(Session&)) {
  return {{"event", verb},
          summary,
          {{example, ""}},
          {{"ID", "event id, or its first 8 digits or more"}},
          combined(std::move(options), {actor_flag(), required_reason_flag()}),
          true,
          false,
          run};
}

}  // namespace

std::string restored_words(const store::EventRecord& event) {
  return event.status == Status::pending ? "is pending again" : "is a dead letter again";
}

std::vector<Command> event_change_commands() {
  return {
      change_command("run-now", "make a pending event due at once: a scheduled one, or one that waits for its retry",
                     "sluice event run-now 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'upstream is back' --yes", {},
                     run_event_now),
      change_command(
          "reschedule", "make a pending event due at another time",
          "sluice event reschedule 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --at 2h --reason 'after the maintenance' --yes",
          {{"--at", "", "WHEN", "a time like 2026-04-25T01:43:02Z, or a duration from now like 2h"}}, reschedule_event),
      change_command("cancel", "take a pending event out of delivery; it is kept until retention removes it",
                     "sluice event cancel 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'order was withdrawn' --yes",
                     {}, cancel_event),
      change_command("restore", "undo a cancel or a discard",
                     "sluice event restore 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'cancelled by mistake' --yes",
                     {}, restore_one_event),
      change_command(
          "resend", "send a delivered event to one of its handlers again; the others do not run",
          "sluice event resend 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --handler billing.invoices --reason "
          "'receiver lost it' --yes",
          {{"--handler", "", "NAME", "the handler that runs again"},
           {"--to-generation", "", "N", "the generation that gets it; default: that of the event, unless retired"}},
          resend_event),
  };
}

}  // namespace sluice::cli
