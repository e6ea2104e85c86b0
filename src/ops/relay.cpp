#include "ops/relay.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {
namespace {

constexpr int kClaimsLookedAt = 1000;
constexpr std::size_t kHandlersNamed = 5;

// Declared over HTTP by workers that pull.
constexpr std::string_view kPull = "pull";

Result<std::int64_t> claimed_by_relays(store::Administering& store) {
  store::EventFilter filter;
  filter.status = Status::in_flight;
  SLUICE_TRY(const auto page, store.list_events(filter, kClaimsLookedAt, std::nullopt));
  return std::count_if(page.events.begin(), page.events.end(), [](const store::EventRecord& event) {
    return event.claimed_by && event.claimed_by->find(store::kRelayMark) != std::string::npos;
  });
}

// A handler whose process is away has its consumer too: what is relayed meanwhile waits for it.
Result<void> make_consumers(store::Administering& store, broker::Broker& broker, const RelaySettings& settings) {
  SLUICE_TRY(const auto subscriptions, store.subscriptions());
  for (const store::SubscriptionRecord& record : subscriptions) {
    broker::ConsumerSpec spec;
    spec.handler_name = record.subscription.handler_name;
    spec.generation = record.generation;
    spec.event_types = record.subscription.event_types;
    spec.shards = settings.shards;
    spec.ack_wait = settings.ack_wait;
    SLUICE_CHECK(broker.consume(spec));
  }
  return {};
}

Error still_under_way(const RelayView& view) {
  return {ErrorCode::conflict, Retry::safe,
          "the broker still has messages: " + std::to_string(view.waiting) + " waiting, " +
              std::to_string(view.unsettled) + " handed out, " + std::to_string(view.claimed) +
              " about to be published" + (view.handlers.empty() ? "" : "; left: " + in_words(view.handlers)),
          "relay",
          "wait for the consumers, or remove a handler that is gone for good with `sluice subscription remove`; with "
          "--force their order against new events is not kept"};
}

Duration duplicate_window(const RelaySettings& settings) {
  return std::max(settings.stream.duplicate_window, 2 * settings.claim_ttl);
}

Result<void> check_stream(broker::Broker& broker, const RelaySettings& settings) {
  SLUICE_TRY(const auto facts, broker.inspect());
  auto faults = faults_of(facts, settings);
  if (auto early = drops_too_soon(facts, settings)) faults.push_back(*std::move(early));
  if (faults.empty()) return {};
  return Error{ErrorCode::conflict, Retry::never, faults.front().what, "relay", faults.front().fix};
}

void add(const broker::ConsumerFacts& consumer, std::vector<HandlerLoad>& loads) {
  const std::int64_t waiting = std::max<std::int64_t>(consumer.waiting, 0);
  if (waiting + consumer.unsettled == 0) return;
  auto found = std::find_if(loads.begin(), loads.end(), [&](const HandlerLoad& one) {
    return one.generation == consumer.generation && one.handler_name == consumer.handler_name;
  });
  if (found == loads.end()) found = loads.insert(found, {consumer.generation, consumer.handler_name});
  found->waiting += waiting;
  found->unsettled += consumer.unsettled;
}

// What is left for a handler without a subscription is nobody's: its process may never come back.
void count_messages(const std::vector<broker::ConsumerFacts>& consumers,
                    const std::vector<store::SubscriptionRecord>& subscriptions, RelayView& view) {
  for (const broker::ConsumerFacts& consumer : consumers) {
    if (consumer.handler_name.empty()) continue;
    const bool subscribed = std::any_of(subscriptions.begin(), subscriptions.end(), [&](const auto& record) {
      return record.generation == consumer.generation && record.subscription.handler_name == consumer.handler_name;
    });
    add(consumer, subscribed ? view.handlers : view.left_behind);
  }
  for (auto* loads : {&view.handlers, &view.left_behind}) {
    std::stable_sort(loads->begin(), loads->end(), [](const HandlerLoad& one, const HandlerLoad& other) {
      return one.messages() > other.messages();
    });
  }
  for (const HandlerLoad& load : view.handlers) {
    view.waiting += load.waiting;
    view.unsettled += load.unsettled;
  }
}

std::vector<std::string> loads_json(const std::vector<HandlerLoad>& loads) {
  std::vector<std::string> all;
  for (const HandlerLoad& load : loads) {
    JsonObject json;
    json.number("generation", load.generation).text("handler_name", load.handler_name);
    json.number("waiting", load.waiting).number("unsettled", load.unsettled);
    all.push_back(json.str());
  }
  return all;
}

}  // namespace

std::string in_words(const std::vector<HandlerLoad>& loads) {
  std::vector<std::string> texts;
  for (const HandlerLoad& load : loads) {
    if (texts.size() == kHandlersNamed) {
      texts.push_back("and " + std::to_string(loads.size() - kHandlersNamed) + " more handlers");
      break;
    }
    texts.push_back(std::to_string(load.messages()) + " for " + load.handler_name + " (generation " +
                    std::to_string(load.generation) + ")");
  }
  return joined(texts, ", ");
}

std::vector<StreamFault> faults_of(const broker::BrokerFacts& facts, const RelaySettings& settings) {
  const std::string stream = "the stream " + facts.stream;
  const std::string edit = "nats stream edit " + facts.stream;
  std::vector<StreamFault> faults;
  if (facts.storage == "memory") {
    faults.push_back({stream + " is kept in memory", "nats stream rm " + facts.stream +
                                                         " when nothing waits in it, then `sluice ladder relay nats`, "
                                                         "which makes it anew"});
  }
  if (facts.discard == "old") {
    faults.push_back({stream + " drops old messages when it is full, read or not", edit + " --discard new"});
  }
  if (broker::is_full(facts)) {
    faults.push_back({stream + " is full: it has " + std::to_string(facts.messages) + " messages of at most " +
                          std::to_string(*facts.max_messages),
                      edit + " --max-msgs=-1"});
  }
  if (facts.kind == "nats" && facts.duplicate_window && *facts.duplicate_window <= settings.claim_ttl) {
    faults.push_back({stream + " recognises a duplicate for " + to_text(*facts.duplicate_window) +
                          ", and a relay that dies publishes again after worker.claim_ttl, " +
                          to_text(settings.claim_ttl),
                      edit + " --dupe-window " + to_text(duplicate_window(settings))});
  }
  return faults;
}

std::optional<StreamFault> drops_too_soon(const broker::BrokerFacts& facts, const RelaySettings& settings) {
  if (!facts.max_age || *facts.max_age >= settings.stream.max_age) return std::nullopt;
  return StreamFault{"the stream " + facts.stream + " drops messages after " + to_text(*facts.max_age) +
                         ", handled or not, and relay.max_age is " + to_text(settings.stream.max_age),
                     "nats stream edit " + facts.stream + " --max-age " + to_text(settings.stream.max_age) +
                         ", or set relay.max_age to what the stream has"};
}

Result<RelayView> look_at_relay(store::Administering& store, broker::Broker* broker) {
  RelayView view;
  SLUICE_TRY(view.relay, store.relay());
  SLUICE_TRY(view.claimed, claimed_by_relays(store));
  if (broker == nullptr) {
    view.trouble = "no broker is configured: set relay.url";
    return view;
  }
  auto facts = broker->inspect();
  if (!facts) {
    view.trouble = facts.error().message;
    return view;
  }
  SLUICE_TRY(const auto subscriptions, store.subscriptions());
  count_messages(facts->consumers, subscriptions, view);
  view.broker = *std::move(facts);
  return view;
}

Result<void> check_relay(store::Administering& store, const std::string& wanted, const RelaySettings& settings) {
  if (store.capabilities().embedded) {
    return invalid("store", "a relay needs PostgreSQL: an SQLite file is delivered by the process that holds it");
  }
  if (settings.kind.empty()) {
    Error error = invalid("relay.url", "no broker is configured: set relay.url, such as nats://127.0.0.1:4222");
    error.hint = "in the environment it is SLUICE_BROKER; every process that delivers needs it";
    return error;
  }
  if (settings.kind != wanted) {
    return invalid("broker", "relay.url names " + settings.kind + ", not " + wanted);
  }
  SLUICE_TRY(const auto subscriptions, store.subscriptions());
  std::vector<std::string> pulling;
  for (const store::SubscriptionRecord& one : subscriptions) {
    if (one.declared_by == kPull) pulling.push_back(one.subscription.handler_name);
  }
  if (pulling.empty()) return {};
  return Error{ErrorCode::conflict, Retry::never,
               "workers that pull over HTTP cannot consume from a broker: " + joined(pulling, ", "), "subscriptions",
               "move them to a listener or a sink, then `sluice subscription remove`"};
}

Result<RelayView> relay_on(store::Administering& store, broker::Broker& broker, const RelaySettings& settings,
                           const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_CHECK(check_relay(store, settings.kind, settings));
  broker::StreamSpec stream = settings.stream;
  stream.duplicate_window = duplicate_window(settings);
  SLUICE_CHECK(broker.ensure(stream));
  SLUICE_CHECK(check_stream(broker, settings));
  SLUICE_CHECK(make_consumers(store, broker, settings));
  SLUICE_CHECK(store.switch_relay(store::RelayState::on, settings.kind, actor));
  return look_at_relay(store, &broker);
}

Result<RelayView> relay_back(store::Administering& store, broker::Broker& broker, const RelaySettings& settings,
                             const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_TRY(const auto before, store.relay());
  if (before.state == store::RelayState::on) {
    SLUICE_CHECK(store.switch_relay(store::RelayState::draining, before.broker, actor));
    SLUICE_CHECK(make_consumers(store, broker, settings));
  }
  return look_at_relay(store, &broker);
}

Result<RelayView> relay_off(store::Administering& store, broker::Broker* broker, bool force,
                            const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_TRY(const auto view, look_at_relay(store, broker));
  if (!force && view.relay.state != store::RelayState::off) {
    if (!view.broker) {
      return Error{ErrorCode::unavailable, Retry::safe, "the broker cannot be asked what it still has: " + view.trouble,
                   "relay", "with --force the relay is off at once"};
    }
    if (!view.is_drained() || view.relay.state == store::RelayState::on) return still_under_way(view);
  }
  SLUICE_CHECK(store.switch_relay(store::RelayState::off, "", actor));
  return look_at_relay(store, broker);
}

std::string to_json(const RelayView& view) {
  JsonObject json;
  json.text("state", name(view.relay.state)).text("broker", view.relay.broker);
  json.text("changed_by", view.relay.changed_by).text("reason", view.relay.reason);
  json.number("waiting", view.waiting).number("unsettled", view.unsettled).number("claimed", view.claimed);
  json.array("handlers", loads_json(view.handlers)).array("left_behind", loads_json(view.left_behind));
  if (!view.trouble.empty()) json.text("trouble", view.trouble);
  if (view.broker) {
    json.text("server", view.broker->server).text("stream", view.broker->stream);
    json.text("an_answer_is_worth", broker::worth_of_answer(*view.broker));
  }
  return json.str();
}

}  // namespace sluice::ops
