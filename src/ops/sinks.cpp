#include "ops/sinks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {
namespace {

Result<store::SinkRecord> with_hint(Result<store::SinkRecord> found) {
  if (found || found.error().code != ErrorCode::not_found) return found;
  Error error = std::move(found).error();
  error.hint = "`sluice sink list` shows them; a daemon declares those of its configuration when it starts";
  return error;
}

// Nobody reads the rest.
std::string to_the_second(Timestamp at) {
  constexpr std::size_t kToTheSecond = 19;
  return to_iso8601(at).substr(0, kToTheSecond) + 'Z';
}

}  // namespace

Result<store::SinkRecords> list_sinks(store::Administering& store) { return store.sinks(); }

Result<store::SinkRecord> find_sink(store::Administering& store, const std::string& name) {
  SLUICE_TRY(auto all, store.sinks());
  for (store::SinkRecord& sink : all.sinks) {
    if (sink.declared.name == name) return std::move(sink);
  }
  return with_hint(Error{ErrorCode::not_found, Retry::never, "there is no sink " + name, "name", {}});
}

Result<store::SinkRecord> pause_sink(store::Administering& store, const std::string& name, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  return with_hint(store.switch_sink(name, SinkSwitch::paused, actor));
}

Result<store::SinkRecord> resume_sink(store::Administering& store, const std::string& name, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  return with_hint(store.switch_sink(name, SinkSwitch::active, actor));
}

Result<std::vector<store::SinkRecord>> stopped_sinks(store::Administering& store) {
  SLUICE_TRY(auto all, store.sinks());
  std::erase_if(all.sinks, [](const store::SinkRecord& sink) { return sink.takes_deliveries(); });
  if (all.sinks.empty()) return std::move(all.sinks);
  SLUICE_TRY(const auto subscriptions, store.subscriptions());
  std::set<std::string_view> wanted;
  for (const store::SubscriptionRecord& one : subscriptions) wanted.insert(one.subscription.handler_name);
  std::erase_if(all.sinks, [&](const store::SinkRecord& sink) {
    const auto& handlers = sink.declared.handlers;
    return std::none_of(handlers.begin(), handlers.end(), [&](const auto& one) { return wanted.contains(one); });
  });
  return std::move(all.sinks);
}

std::string_view state_name(const store::SinkRecord& sink, Timestamp now) {
  if (sink.state != SinkSwitch::active || !sink.open_until) return name(sink.state);
  return *sink.open_until > now ? "open" : "half_open";
}

std::string how_stopped(const store::SinkRecord& sink) {
  switch (sink.state) {
    case SinkSwitch::paused:
      return "paused by " + sink.changed_by;
    case SinkSwitch::disabled:
      return "disabled, because its receiver is gone";
    case SinkSwitch::active:
      break;
  }
  return sink.open_until ? "resting with an open circuit" : "";
}

std::string since_stopped(const store::SinkRecord& sink) {
  if (sink.state != SinkSwitch::active) return "since " + to_the_second(sink.changed_at) + ": " + sink.reason;
  if (!sink.open_until) return "";
  // Nobody tries it without an event: the time may be long past.
  return "since " + to_the_second(*sink.opened_at) + ", the first event from " + to_the_second(*sink.open_until) +
         " on tries it again: " + sink.open_reason;
}

std::string why_stopped(const store::SinkRecord& sink) {
  const std::string how = how_stopped(sink);
  return how.empty() ? "" : how + ' ' + since_stopped(sink);
}

std::string help_stopped(const store::SinkRecord& sink) {
  const std::string& name = sink.declared.name;
  if (sink.state == SinkSwitch::paused) return "sluice sink resume " + name + " --reason TEXT";
  if (sink.state == SinkSwitch::disabled) {
    return "sluice sink test " + name + "; once the receiver answers: sluice sink resume " + name + " --reason TEXT";
  }
  return "sluice sink test " + name + "; the circuit closes by itself once the receiver answers";
}

EventEnvelope trial_event(const host::Entropy& entropy) {
  EnvelopeDraft draft;
  draft.event_id = make_uuid_v7(entropy.clock(), entropy.random());
  draft.event_type = "sluice.test";
  draft.source = "sluice";
  draft.occurred_at = entropy.clock();
  draft.payload = R"({"message":"a test delivery; nothing happened"})";
  return EventEnvelope::trusted(std::move(draft));
}

std::string to_json(const Trial& trial) {
  return JsonObject{}
      .boolean("ok", trial.ok)
      .text("status", trial.status)
      .text("detail", trial.detail)
      .decimal("took_ms", std::chrono::duration<double, std::milli>(trial.took).count())
      .str();
}

std::string to_json(const store::SinkRecord& sink, Timestamp now) {
  return JsonObject{}
      .text("name", sink.declared.name)
      .text("kind", sink.declared.kind)
      .text("target", sink.declared.target)
      .text("state", state_name(sink, now))
      .time("changed_at", sink.changed_at)
      .text("changed_by", sink.changed_by)
      .text("reason", sink.reason)
      .time("opened_at", sink.opened_at)
      .time("resumes_at", sink.open_until)
      .text("open_reason", sink.open_reason)
      .texts("subscriptions", sink.declared.handlers)
      .time("declared_at", sink.declared_at)
      .str();
}

}  // namespace sluice::ops
