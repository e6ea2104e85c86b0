// sluice subscription: who handles what.
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::cli {
namespace {

using Access = Session::Access;

std::vector<std::string> row_of(const ops::SubscriptionStatus& status) {
  const Subscription& subscription = status.record.subscription;
  return {std::to_string(status.record.generation), subscription.handler_name,
          joined(subscription.event_types, " "),    subscription.context.value_or("any"),
          subscription.channel.value_or("any"),     std::to_string(status.workers),
          clock_text(status.record.registered_at)};
}

Result<Exit> list_subscriptions(Session& session) {
  std::optional<Generation> only;
  if (const auto text = session.arguments().value("--generation")) {
    SLUICE_TRY(only, parse_generation(*text, "--generation"));
  }
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Access::existing));
  SLUICE_TRY(const auto all, ops::list_subscriptions(*store));
  std::vector<std::string> texts;
  Table table{"GENERATION", "HANDLER", "EVENTS", "TARGET", "CHANNEL", "WORKERS", "SINCE"};
  for (const auto& one : all) {
    if (only && one.record.generation != *only) continue;
    texts.push_back(ops::to_json(one));
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row(row_of(one));
  }
  if (session.format() == Format::json) session.out() << JsonObject{}.array("subscriptions", texts).str() << '\n';
  if (session.format() == Format::table && !table.empty()) table.print(session.console());
  if (table.empty()) session.note("no handler is subscribed");
  return Exit::ok;
}

void describe(const Session& session, const ops::UnsubscribePlan& plan) {
  const std::string at_least = plan.complete ? "" : "at least ";
  session.note(at_least + std::to_string(plan.waiting) +
               " of the pending events wait for it; nobody else subscribes to " + at_least +
               std::to_string(plan.orphaned) + " of them");
  if (plan.subscription.workers > 0) {
    session.note(std::to_string(plan.subscription.workers) +
                 " of the live workers host it: each subscribes it again when it starts");
  }
}

Result<Exit> remove(Session& session) {
  const std::string handler = session.arguments().positionals.front();
  SLUICE_CHECK(check_reason(session));
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(auto store, session.open(config, Access::existing));
  SLUICE_TRY(const auto generation, Session::generation(config, *store));
  SLUICE_TRY(const auto plan, session.dry_run() ? ops::plan_unsubscribe(*store, generation, handler)
                                                : ops::unsubscribe(*store, generation, handler, session.actor(config)));
  if (session.format() == Format::table) {
    session.out() << printable(handler) << '\n';
  } else {
    session.out() << ops::to_json(plan, session.dry_run()) << '\n';
  }
  describe(session, plan);
  session.note((session.dry_run() ? "dry run: would remove the subscription of " : "removed the subscription of ") +
               handler + " in generation " + std::to_string(generation));
  return Exit::ok;
}

}  // namespace

std::vector<Command> subscription_commands() {
  return {
      {{"subscription", "list"},
       "list which handler takes which events",
       {{"sluice subscription list", ""}, {"sluice subscription list --generation 42", "of one generation"}},
       {},
       {},
       false,
       false,
       list_subscriptions},
      {{"subscription", "remove"},
       "remove a handler that is gone for good: no event waits for it any more",
       {{"sluice subscription remove billing.meter --dry-run", "what waits for it"},
        {"sluice subscription remove billing.meter --generation 41 --reason 'moved to invoicing'", ""}},
       {{"HANDLER", "its name, like billing.meter"}},
       {actor_flag(), required_reason_flag()},
       true,
       false,
       remove},
  };
}

}  // namespace sluice::cli
