// sluice sink: where daemons deliver to, and switching it for all of them.
#include <ostream>
#include <utility>

#include "cli/audit_flags.hpp"
#include "cli/noun.hpp"
#include "cli/table.hpp"
#include "cli/when.hpp"
#include "core/json_object.hpp"
#include "core/printable.hpp"
#include "core/words.hpp"
#include "ops/sinks.hpp"

namespace sluice::cli {
namespace {

const std::string& sink_argument(const Session& session) { return session.arguments().positionals.front(); }

Result<Exit> list_sinks(Session& session) {
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  const auto all = ops::list_sinks(*opened->store);
  if (!all) return all.error();
  std::vector<std::string> texts;
  Table table{"SINK", "KIND", "STATE", "SINCE", "BY", "WHY", "TARGET", "SUBSCRIPTIONS"};
  for (const store::SinkRecord& sink : all->sinks) {
    texts.push_back(ops::to_json(sink, all->now));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    const bool circuit = sink.state == SinkSwitch::active && sink.opened_at;
    table.row({sink.declared.name, sink.declared.kind, std::string{ops::state_name(sink, all->now)},
               clock_text(circuit ? *sink.opened_at : sink.changed_at), circuit ? "" : sink.changed_by,
               circuit ? sink.open_reason : sink.reason, sink.declared.target, joined(sink.declared.handlers, " ")});
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("sinks", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.out(), session.console().color);
  if (table.empty()) session.note("no sink is known: a daemon declares those of its configuration when it starts");
  return Exit::ok;
}

Result<void> print_sink(const Session& session, store::Store& store, const store::SinkRecord& sink) {
  const auto now = ops::now(store);
  if (!now) return now.error();
  if (session.format() != Format::table) {
    session.out() << ops::to_json(sink, *now) << '\n';
    return {};
  }
  const auto time = [](const std::optional<Timestamp>& at) { return at ? clock_text(*at) : std::string{}; };
  print_pairs(session.out(), {{"sink", sink.declared.name},
                              {"kind", sink.declared.kind},
                              {"target", sink.declared.target},
                              {"state", std::string{ops::state_name(sink, *now)}},
                              {"since", clock_text(sink.changed_at)},
                              {"by", sink.changed_by},
                              {"reason", sink.reason},
                              {"circuit open since", time(sink.opened_at)},
                              {"next try at", time(sink.open_until)},
                              {"because", sink.open_reason},
                              {"subscriptions", joined(sink.declared.handlers, " ")},
                              {"declared", clock_text(sink.declared_at)}});
  return {};
}

Result<Exit> show_sink(Session& session) {
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  const auto sink = ops::find_sink(*opened->store, sink_argument(session));
  if (!sink) return sink.error();
  if (auto printed = print_sink(session, *opened->store, *sink); !printed) return std::move(printed).error();
  if (session.format() == Format::table && !sink->takes_deliveries()) session.note("next: " + ops::help_stopped(*sink));
  return Exit::ok;
}

using SwitchSink = Result<store::SinkRecord> (*)(store::Switching&, const std::string&, const store::Actor&);

Result<Exit> switch_sink(Session& session, SwitchSink use, std::string_view verb) {
  if (auto given = check_reason(session); !given) return std::move(given).error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  const std::string& name = sink_argument(session);
  const auto sink = session.dry_run() ? ops::find_sink(*opened->store, name)
                                      : use(*opened->store, name, session.actor(opened->config));
  if (!sink) return sink.error();
  if (auto printed = print_sink(session, *opened->store, *sink); !printed) return std::move(printed).error();
  if (session.dry_run()) {
    session.note("dry run: would " + std::string{verb} + " it for every daemon");
  } else {
    session.note("every daemon follows within seconds");
  }
  return Exit::ok;
}

Result<Exit> pause_sink(Session& session) { return switch_sink(session, ops::pause_sink, "pause"); }
Result<Exit> resume_sink(Session& session) { return switch_sink(session, ops::resume_sink, "resume"); }

Result<Exit> test_sink(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  const auto trial =
      session.adapters().try_sink(*config, sink_argument(session), ops::trial_event(session.adapters().entropy));
  if (!trial) return trial.error();
  if (session.format() == Format::table) {
    session.out() << (trial->ok ? "ok" : "failed") << ' ' << printable(trial->status) << " after "
                  << to_text(std::chrono::floor<std::chrono::milliseconds>(trial->took))
                  << (trial->detail.empty() ? "" : ": " + printable(trial->detail)) << '\n';
  } else {
    session.out() << ops::to_json(*trial) << '\n';
  }
  return trial->ok ? Exit::ok : Exit::failed;
}

const Positional kSink{"NAME", "its name in the configuration, like shop"};

}  // namespace

std::vector<Command> sink_commands() {
  return {
      {{"sink", "list"},
       "list the sinks: which take deliveries, which do not, since when and why",
       {{"sluice sink list", ""}, {"sluice sink list -o json | jq '.sinks[] | select(.state != \"active\")'", ""}},
       {},
       {},
       false,
       false,
       list_sinks},
      {{"sink", "show"},
       "one sink: its state, its circuit and its subscriptions",
       {{"sluice sink show shop", ""}},
       {kSink},
       {},
       false,
       false,
       show_sink},
      {{"sink", "pause"},
       "deliver nothing to a sink: its events wait, and no attempt is counted",
       {{"sluice sink pause shop --reason 'the shop is migrating'", ""}},
       {kSink},
       {actor_flag(), required_reason_flag()},
       true,
       false,
       pause_sink},
      {{"sink", "resume"},
       "deliver to a sink again, also after its receiver was gone (410); closes its circuit",
       {{"sluice sink resume shop --reason 'the receiver is back'", ""}},
       {kSink},
       {actor_flag(), required_reason_flag()},
       true,
       false,
       resume_sink},
      {{"sink", "test"},
       "send one sluice.test event, which is in no store, from here, and say what the receiver answered",
       {{"sluice sink test shop", "exit 1: it was not delivered"}},
       {kSink},
       {},
       false,
       false,
       test_sink},
  };
}

}  // namespace sluice::cli
