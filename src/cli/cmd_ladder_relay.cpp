// sluice ladder relay: a broker carries the deliveries, and back.
#include <ostream>

#include "broker/broker.hpp"
#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/relay.hpp"

namespace sluice::cli {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds{1};

std::string left_behind_text(const ops::RelayView& view) {
  if (view.left_behind.empty()) return "";
  return ops::in_words(view.left_behind) + ": left behind by handlers that were removed";
}

void print_relay(const Session& session, const ops::RelayView& view) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(view) << '\n';
    return;
  }
  const bool changed = !view.relay.changed_by.empty();
  print_pairs(
      session.out(),
      {{"relay", std::string{name(view.relay.state)} + (view.relay.broker.empty() ? "" : " " + view.relay.broker)},
       {"since", changed ? clock_text(view.relay.changed_at) : ""},
       {"by", view.relay.changed_by},
       {"reason", view.relay.reason},
       {"broker", view.broker ? view.broker->kind + ' ' + view.broker->version + " at " + view.broker->server : ""},
       {"stream", view.broker ? view.broker->stream : ""},
       {"trouble", view.trouble},
       {"waiting", std::to_string(view.waiting)},
       {"handed out", std::to_string(view.unsettled)},
       {"left", ops::in_words(view.handlers)},
       {"left behind", left_behind_text(view)},
       {"an answer is worth", view.broker ? broker::worth_of_answer(*view.broker) : ""}});
}

// Whom the way back waits for.
std::string progress_of(const ops::RelayView& view) {
  if (!view.trouble.empty()) return "cannot ask the broker: " + view.trouble;
  std::string text = counted(view.waiting + view.unsettled, "message") + " left";
  if (!view.handlers.empty()) text += ": " + ops::in_words(view.handlers);
  if (view.claimed > 0) text += "; " + counted(view.claimed, "event") + " about to be published";
  return text;
}

/// The store and the broker of one command.
struct RelayCommand {
  Session& session;
  Session::Opened opened;
  std::unique_ptr<broker::Broker> broker;

  [[nodiscard]] ops::RelaySettings settings() const { return relay_settings(opened.config); }
  [[nodiscard]] store::Actor actor() const { return session.actor(opened.config); }
};

Result<Exit> turn_back(RelayCommand& command) {
  Session& session = command.session;
  const bool force = session.arguments().has("--force");
  SLUICE_TRY(const auto before, ops::look_at_relay(*command.opened.store, nullptr));
  const bool off = before.relay.state == store::RelayState::off;
  if (off || session.dry_run()) {
    SLUICE_TRY(const auto view, ops::look_at_relay(*command.opened.store, command.broker.get()));
    print_relay(session, view);
    session.note(off ? "the relay is off already: listeners claim from the database"
                     : "dry run: would relay nothing more, wait for the consumers, and let listeners claim again");
    return Exit::ok;
  }
  if (!force) {
    if (!command.broker) return invalid("relay.url", "no broker is configured: set relay.url, or pass --force");
    session.adapters().interruption->arm();
    SLUICE_TRY(auto view, ops::relay_back(*command.opened.store, *command.broker, command.settings(), command.actor()));
    while (view.relay.state == store::RelayState::draining && (!view.broker || !view.is_drained())) {
      session.note(progress_of(view));
      if (session.adapters().interruption->wait_for(kBetweenLooks)) {
        session.note("interrupted: nothing is claimed until it is run again, or `sluice ladder relay " +
                     view.relay.broker + "` turns the relay on again");
        return Exit::interrupted;
      }
      SLUICE_TRY(view, ops::look_at_relay(*command.opened.store, command.broker.get()));
    }
  }
  SLUICE_TRY(const auto view, ops::relay_off(*command.opened.store, command.broker.get(), force, command.actor()));
  print_relay(session, view);
  session.note("listeners claim from the database again within seconds");
  return Exit::ok;
}

Result<Exit> turn_on(RelayCommand& command, const std::string& wanted) {
  Session& session = command.session;
  SLUICE_CHECK(ops::check_relay(*command.opened.store, wanted, command.settings()));
  if (session.dry_run()) {
    SLUICE_TRY(const auto view, ops::look_at_relay(*command.opened.store, command.broker.get()));
    print_relay(session, view);
    session.note(
        "dry run: would make the stream and a consumer per handler where they are missing, and turn the relay on");
    return view.trouble.empty() ? Exit::ok : Exit::unavailable;
  }
  SLUICE_TRY(const auto view,
             ops::relay_on(*command.opened.store, *command.broker, command.settings(), command.actor()));
  print_relay(session, view);
  session.note("daemons with relay.url publish to " + wanted + " within seconds; processes without it deliver nothing");
  return Exit::ok;
}

Result<Exit> ladder_relay(Session& session) {
  const auto& positionals = session.arguments().positionals;
  const bool back = session.arguments().has("--back");
  if (back && !positionals.empty()) return invalid("--back", "--back takes no broker: it returns from whichever is on");
  if (back || !positionals.empty()) SLUICE_CHECK(check_reason(session));
  SLUICE_TRY(auto opened, session.open_existing());
  SLUICE_TRY(auto broker, session.adapters().open_broker(opened.config));
  RelayCommand command{session, std::move(opened), std::move(broker)};
  if (back) return turn_back(command);
  if (!positionals.empty()) return turn_on(command, positionals.front());
  SLUICE_TRY(const auto view, ops::look_at_relay(*command.opened.store, command.broker.get()));
  print_relay(session, view);
  return Exit::ok;
}

}  // namespace

std::vector<Command> ladder_relay_commands() {
  return {
      {{"ladder", "relay"},
       "let NATS JetStream or Redis carry the deliveries, or return to the database; without a broker: how it stands",
       {{"sluice ladder relay", "the switch, and what the broker has"},
        {"sluice ladder relay nats --reason 'p99 above 500 ms for a week'", ""},
        {"sluice ladder relay --back --reason 'the servers are replaced'", "waits until the broker has nothing left"}},
       {{"BROKER", "nats or redis, as relay.url names it", false, {"nats", "redis"}}},
       {{"--url", "", "URL", "the broker; default: relay.url of the configuration", {}, "relay.url"},
        {"--back", "", "", "let consumers finish, then let listeners claim from the database again"},
        {"--force", "", "", "with --back: at once; keys may be handled out of order"},
        actor_flag(),
        required_reason_flag()},
       true,
       false,
       ladder_relay}};
}

}  // namespace sluice::cli
