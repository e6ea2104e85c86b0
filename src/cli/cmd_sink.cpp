// sluice sink and sluice alert: where daemons deliver to and who is told, and trying both.
#include <ostream>
#include <stop_token>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/failure.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/sinks.hpp"

namespace sluice::cli {
namespace {

using SwitchSink = Result<store::SinkRecord> (*)(store::Administering&, const std::string&, const store::Actor&);

const std::string& sink_argument(const Session& session) { return session.arguments().positionals.front(); }

Result<Exit> list_sinks(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto all, ops::list_sinks(*opened.store));
  std::vector<std::string> texts;
  Table table{"SINK", "KIND", "STATE", "SINCE", "BY", "WHY", "TARGET", "SUBSCRIPTIONS"};
  for (const store::SinkRecord& sink : all.sinks) {
    texts.push_back(ops::to_json(sink, all.now));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    const bool circuit = sink.state == SinkSwitch::active && sink.opened_at;
    table.row({sink.declared.name, sink.declared.kind, std::string{ops::state_name(sink, all.now)},
               clock_text(circuit ? *sink.opened_at : sink.changed_at), circuit ? "" : sink.changed_by,
               circuit ? sink.open_reason : sink.reason, sink.declared.target, joined(sink.declared.handlers, " ")});
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("sinks", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  if (table.empty()) session.note("no sink is known: a daemon declares those of its configuration when it starts");
  return Exit::ok;
}

Result<void> print_sink(const Session& session, store::Administering& store, const store::SinkRecord& sink) {
  SLUICE_TRY(const auto now, ops::now(store));
  if (session.format() != Format::table) {
    session.out() << ops::to_json(sink, now) << '\n';
    return {};
  }
  const auto time = [](const std::optional<Timestamp>& at) { return at ? clock_text(*at) : std::string{}; };
  print_pairs(session.out(), {{"sink", sink.declared.name},
                              {"kind", sink.declared.kind},
                              {"target", sink.declared.target},
                              {"state", std::string{ops::state_name(sink, now)}},
                              {"since", clock_text(sink.changed_at)},
                              {"by", sink.changed_by},
                              {"reason", sink.reason},
                              {"circuit open since", time(sink.opened_at)},
                              {"tried again from", time(sink.open_until)},
                              {"because", sink.open_reason},
                              {"subscriptions", joined(sink.declared.handlers, " ")},
                              {"declared", clock_text(sink.declared_at)}});
  return {};
}

Result<Exit> show_sink(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto sink, ops::find_sink(*opened.store, sink_argument(session)));
  SLUICE_CHECK(print_sink(session, *opened.store, sink));
  if (session.format() == Format::table && !sink.takes_deliveries()) session.note("next: " + ops::help_stopped(sink));
  return Exit::ok;
}

Result<Exit> switch_sink(Session& session, SwitchSink use, std::string_view verb) {
  SLUICE_CHECK(check_reason(session));
  SLUICE_TRY(const auto opened, session.open_existing());
  const std::string& name = sink_argument(session);
  SLUICE_TRY(const auto sink, session.dry_run() ? ops::find_sink(*opened.store, name)
                                                : use(*opened.store, name, session.actor(opened.config)));
  SLUICE_CHECK(print_sink(session, *opened.store, sink));
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
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(const auto trial,
             session.adapters().try_sink(config, sink_argument(session), ops::trial_event(session.adapters().entropy)));
  if (session.format() == Format::table) {
    session.out() << (trial.ok ? "ok" : "failed") << ' ' << printable(trial.status) << " after "
                  << to_text(std::chrono::floor<std::chrono::milliseconds>(trial.took))
                  << (trial.detail.empty() ? "" : ": " + printable(trial.detail)) << '\n';
  } else {
    session.out() << ops::to_json(trial) << '\n';
  }
  return trial.ok ? Exit::ok : Exit::failed;
}

const Positional kSink{"NAME", "its name in the configuration, like shop"};

constexpr std::string_view kClass = "AlertTest";
constexpr std::string_view kMessage = "this is a test; nothing has failed";

Alert test_alert(const host::Entropy& entropy) {
  const Timestamp now = entropy.clock();
  Alert alert;
  alert.alert_id = make_uuid_v7(now, entropy.random());
  alert.failure.event_id = make_uuid_v7(now, entropy.random());
  alert.failure.event_type = "sluice.alert.test";
  alert.failure.source = "sluice";
  alert.failure.handler_name = "sluice.alert_test";
  alert.failure.error_class = kClass;
  alert.failure.fingerprint = fingerprint(kClass, kMessage);
  alert.failure.last_error = std::string{kClass} + ": " + std::string{kMessage};
  alert.failure.failed_at = now;
  return alert;
}

Error nothing_configured() {
  Error error =
      invalid("alerts.sentry_dsn", "no alert receiver is configured: set alerts.sentry_dsn or alerts.webhook_url");
  error.hint = "in the environment they are SLUICE_SENTRY_DSN and SLUICE_ALERT_WEBHOOK_URL";
  return error;
}

struct Attempt {
  bool sent = false;
  std::string said;
};

Attempt attempt(alert::AlertChannel& channel, const Alert& alert) {
  const auto sent = channel.send(alert, std::stop_token{});
  if (!sent) return {false, sent.error().message};
  if (sent->accepted) return {true, "the receiver answered " + sent->answer};
  return {false, "the receiver answered " + sent->answer +
                     (sent->retry_after ? "; try again in " + to_text(*sent->retry_after) : "")};
}

Result<Exit> test(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  const auto channels = session.adapters().alert_channels(config);
  if (channels.empty()) return nothing_configured();
  const Alert alert = test_alert(session.adapters().entropy);
  bool all = true;
  std::vector<std::string> texts;
  Table table{"CHANNEL", "RECEIVER", "RESULT", "DETAIL"};
  for (const auto& channel : channels) {
    const auto [sent, said] = attempt(*channel, alert);
    all = all && sent;
    const std::string_view result = sent ? "sent" : "failed";
    texts.push_back(JsonObject{}
                        .text("channel", channel->name())
                        .text("receiver", channel->display())
                        .text("result", result)
                        .text("detail", said)
                        .str());
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row({std::string{channel->name()}, channel->display(), std::string{result}, said});
  }
  if (session.format() == Format::json) {
    session.out() << JsonObject{}.uuid("alert_id", alert.alert_id).array("channels", texts).str() << '\n';
  }
  if (session.format() == Format::table) table.print(session.console());
  return all ? Exit::ok : Exit::failed;
}

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

std::vector<Command> alert_commands() {
  return {
      {{"alert", "test"},
       "send one test alert to each configured receiver and say what came of it",
       {{"sluice alert test", ""}, {"sluice alert test -o json | jq '.channels[] | select(.result != \"sent\")'", ""}},
       {},
       {},
       false,
       false,
       test}};
}

}  // namespace sluice::cli
