// sluice publish: store one event.
#include <algorithm>
#include <chrono>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/publish_flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/event_json.hpp"
#include "ops/event_story.hpp"
#include "ops/event_watch.hpp"
#include "ops/generations.hpp"
#include "ops/publish_trace.hpp"
#include "ops/subscriptions.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::cli {
namespace {

using Access = Session::Access;
using Ending = ops::Awaited::Ending;

constexpr Duration kDefaultTimeout = std::chrono::seconds{30};

// A dry run must not create the file that the real run would, so it may find no store.
Result<Generation> planned_generation(const Session& session, const config::Config& config) {
  if (config.generation) return *config.generation;
  auto store = session.open(config, Access::existing);
  if (store) return ops::default_generation(**store);
  if (store.error().code == ErrorCode::not_found) return kFirstGeneration;
  return std::move(store).error();
}

Result<void> check_planned(const Session& session, const config::Config& config, const store::NewEvent& event) {
  auto store = session.open(config, Access::existing);
  if (store) return ops::GenerationCheck{**store}(event);
  if (store.error().code == ErrorCode::not_found) return {};
  return std::move(store).error();
}

Result<Exit> show_plan(const Session& session, const store::NewEvent& event) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(event, std::nullopt) << '\n';
    return Exit::ok;
  }
  print_pairs(session.out(), {{"event_id", event.envelope.event_id().to_string()},
                              {"event_type", event.envelope.event_type()},
                              {"source", event.envelope.source()},
                              {"target", event.envelope.target().value_or("(broadcast)")},
                              {"generation", std::to_string(event.generation)},
                              {"channel", event.channel},
                              {"ordering_key", event.ordering_key.value_or("")},
                              {"payload", event.envelope.payload()}});
  session.note("dry run: nothing was stored");
  return Exit::ok;
}

ops::Pacing pacing(const Adapters& adapters) {
  const auto start = std::chrono::steady_clock::now();
  return {[&adapters](Duration pause) { return !adapters.interruption->wait_for(pause); },
          [start] { return std::chrono::floor<Duration>(std::chrono::steady_clock::now() - start); }};
}

// What keeps a pending event from being delivered, in words; empty where nothing does, or where it cannot be told.
std::string obstacle(store::Administering& store, const Uuid& id) {
  const auto story = ops::tell_story(store, id);
  const auto workers = ops::live_workers(store);
  if (!story || !workers || story->event.status != Status::pending) return {};
  const Generation generation = story->event.generation;
  const bool served = std::any_of(workers->begin(), workers->end(),
                                  [&](const auto& worker) { return worker.generation == generation; });
  if (!served) {
    const std::string number = std::to_string(generation);
    return "no worker of generation " + number + " is alive: start one, such as `sluice serve --generation " + number +
           '`';
  }
  for (const ops::Wait& wait : story->waits_for) {
    if (wait.what == ops::Wait::What::subscriber || wait.what == ops::Wait::What::worker) return wait.detail;
  }
  return {};
}

Exit tell(const Session& session, const ops::Awaited& awaited, Duration timeout) {
  const auto& event = awaited.event;
  const std::string id = event.envelope.event_id().to_string();
  switch (awaited.ending) {
    case Ending::delivered:
      session.note("delivered");
      return Exit::ok;
    case Ending::failed:
      session.note("failed after " + counted(event.attempts, "attempt") + ": " + event.last_error.value_or(""));
      return Exit::failed;
    case Ending::timed_out:
      session.note("still " + std::string{name(event.status)} + " after " + to_text(timeout) +
                   "; the event is stored: `sluice event show " + id + "`");
      return Exit::timed_out;
    case Ending::interrupted:
      session.note("no longer waiting; the event is stored: `sluice event show " + id + "`");
      return Exit::interrupted;
  }
  return Exit::failed;
}

Result<Exit> wait(const Session& session, store::Administering& store, const ops::Published& published,
                  Duration timeout) {
  const std::string why = obstacle(store, published.event.envelope.event_id());
  if (!why.empty()) session.note("waiting up to " + to_text(timeout) + ", though " + why);
  SLUICE_TRY(const auto awaited,
             ops::await_event(store, published.event.envelope.event_id(), timeout, pacing(session.adapters())));
  if (session.format() != Format::table) session.out() << ops::to_json(awaited.event) << '\n';
  return tell(session, awaited, timeout);
}

Result<Duration> wait_timeout(const Arguments& arguments) {
  const auto text = arguments.value("--timeout");
  if (text && !arguments.has("--wait")) return invalid("--timeout", "--timeout needs --wait");
  return text ? parse_duration(*text, "--timeout") : kDefaultTimeout;
}

// A duplicate as it is stored; who may publish and not read is told no more than that it is one.
std::string told(store::Administering& store, const ops::Published& published) {
  if (published.outcome == store::PublishOutcome::published) {
    return ops::to_json(published.event, published.outcome);
  }
  const Uuid id = published.event.envelope.event_id();
  const auto stored = ops::stored_event(store, id);
  if (stored) return ops::to_json(*stored, published.outcome);
  return JsonObject{}.uuid("event_id", id).text("outcome", "duplicate").str();
}

struct Storing {
  store::Administering& store;
  ops::EventPublishing& publishing;
  ops::PublishRequest request;
  Generation generation = kFirstGeneration;
};

// Its span is sent before anybody waits for the delivery.
Result<ops::Published> store_traced(const Session& session, const config::Config& config, Storing storing) {
  const auto exporting = session.exporting(config);
  const auto surrounding = config::variable(session.sources().environment, "TRACEPARENT");
  const auto span = ops::begin_publish(tracer_of(exporting), {&storing.request, 1}, surrounding);
  const auto event = storing.publishing.prepare(storing.request, storing.generation);
  if (!event) return in_terms_of_flags(event.error());
  ops::describe(span.get(), {&*event, 1});
  if (auto known = ops::GenerationCheck{storing.store}(*event); !known)
    return in_terms_of_flags(std::move(known).error());
  auto published = ops::publish_event(storing.store, *event);
  if (!published) telemetry::note_error(span.get(), published.error());
  return published;
}

Result<Exit> publish(Session& session) {
  const Arguments& arguments = session.arguments();
  SLUICE_TRY(const auto timeout, wait_timeout(arguments));
  SLUICE_TRY(auto request, publish_request(arguments));
  SLUICE_TRY(const auto config, session.config());
  SLUICE_TRY(request.payload, read_payload(arguments.value("--data").value_or("{}"), session.console(),
                                           !arguments.has("--no-input"), config.payload_max_bytes));

  ops::EventPublishing publishing{session.adapters().entropy, {.payload_bytes = config.payload_max_bytes}};
  // Checked before a store is opened, so that bad input leaves no new file behind.
  const auto checked = publishing.prepare(request, config.generation.value_or(kFirstGeneration));
  if (!checked) return in_terms_of_flags(checked.error());
  if (session.dry_run()) {
    SLUICE_TRY(const auto generation, planned_generation(session, config));
    const auto event = publishing.prepare(request, generation);
    if (!event) return in_terms_of_flags(event.error());
    if (auto known = check_planned(session, config, *event); !known) return in_terms_of_flags(std::move(known).error());
    return show_plan(session, *event);
  }

  // Before the store is opened: threads that it starts inherit the blocked signals.
  if (arguments.has("--wait")) session.adapters().interruption->arm();
  SLUICE_TRY(const auto store, session.open(config, Access::create));
  SLUICE_TRY(const auto generation, Session::generation(config, *store));
  SLUICE_TRY(const auto published, store_traced(session, config, {*store, publishing, std::move(request), generation}));
  log_published(session, config, published);
  if (published.outcome == store::PublishOutcome::duplicate) {
    session.note("this id was published before; nothing was changed");
  }
  if (session.format() == Format::table) {
    session.out() << published.event.envelope.event_id().to_string() << std::endl;
  } else if (!arguments.has("--wait")) {
    session.out() << told(*store, published) << '\n';
  }
  return arguments.has("--wait") ? wait(session, *store, published, timeout) : Result<Exit>{Exit::ok};
}

}  // namespace

std::vector<Command> publish_commands() {
  return {{{"publish"},
           "store one event and print its id",
           {{"sluice publish demo.hello --data '{\"n\":1}'", ""},
            {"sluice publish billing.invoice.sent --source billing --key customer-7 --data @invoice.json", ""},
            {"sluice publish demo.hello --wait --timeout 10s", "until it is delivered"},
            {"sluice publish demo.reminder --after 2h", "delivered no sooner than in two hours"}},
           {{"TYPE", "event type, like demo.hello"}},
           publish_options(),
           true,
           false,
           publish}};
}

}  // namespace sluice::cli
