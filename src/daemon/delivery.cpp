#include "daemon/delivery.hpp"

#include <algorithm>
#include <utility>

namespace sluice::daemon {
namespace {

const store::Actor kReload{"sluice", "config", "no longer declared in the configuration"};

bool declares(const config::Config& config, std::string_view handler) {
  const auto& all = config.declared.subscriptions;
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.handler_name == handler; });
}

// A subscription that is gone already is what was wanted.
Result<void> unsubscribe(store::Registering& store, Generation generation, const std::string& handler) {
  auto done = store.unsubscribe(generation, handler, kReload);
  if (!done && done.error().code != ErrorCode::not_found) return done;
  return {};
}

}  // namespace

Result<std::unique_ptr<Delivery::Shift>> Delivery::prepare(const config::Config& config) const {
  auto sinks = parts_.open_sinks(config);
  if (!sinks) return std::move(sinks).error();
  auto shift = std::make_unique<Shift>(Shift{config, *std::move(sinks), {}, {}});
  for (const auto& subscription : config.declared.subscriptions) {
    shift->served[subscription.sink].push_back(subscription.handler_name);
  }
  if (config.declared.subscriptions.empty()) shift->served["log"].emplace_back(kLogHandler);
  return shift;
}

Result<void> Delivery::begin(Shift& shift) {
  for (const auto& [sink, unused] : shift.served) {
    auto begun = begin(shift, sink, shift.supervisors.empty());
    if (!begun) {
      end(shift);
      return std::move(begun).error();
    }
    shift.supervisors.push_back(*std::move(begun));
  }
  return {};
}

Result<std::unique_ptr<runtime::Supervisor>> Delivery::begin(const Shift& shift, const std::string& sink,
                                                             bool first) const {
  auto hosted = handlers(shift, sink);
  if (!hosted) return std::move(hosted).error();
  runtime::SupervisorOptions options = parts_.options(shift.config);
  options.worker.identity = parts_.fresh_identity();
  // Once per process is enough.
  options.reap = options.sweep = first;
  options.patrol.enabled = options.patrol.enabled && first;
  // The log is for looking on: no event waits for it while it is away. What is declared waits.
  options.withdraw = shift.config.declared.subscriptions.empty();
  return runtime::Supervisor::start(parts_.store, *std::move(hosted), parts_.logger, std::move(options));
}

Result<runtime::HandlerSet> Delivery::handlers(const Shift& shift, const std::string& sink) const {
  runtime::HandlerSet set;
  for (const auto& subscription : shift.config.declared.subscriptions) {
    if (subscription.sink != sink) continue;
    if (auto added = set.add(handler_of(subscription, outlet(shift, sink))); !added) return std::move(added).error();
  }
  if (set.empty()) {
    if (auto added = set.add(log_everything(outlet(shift, sink), shift.config.retry)); !added) {
      return std::move(added).error();
    }
  }
  return set;
}

Outlet Delivery::outlet(const Shift& shift, const std::string& sink) const {
  return {sink, shift.sinks.at(sink), parts_.metrics};
}

Result<void> Delivery::start(const config::Config& config) {
  auto prepared = prepare(config);
  if (!prepared) return std::move(prepared).error();
  std::shared_ptr<Shift> shift = *std::move(prepared);
  if (auto forgotten = forget_log_handler(*shift); !forgotten) return forgotten;
  if (auto begun = begin(*shift); !begun) return begun;
  const std::lock_guard lock{mutex_};
  current_ = std::move(shift);
  return {};
}

// A daemon that was killed could not withdraw it, and nothing would ever be delivered without it.
Result<void> Delivery::forget_log_handler(const Shift& shift) {
  if (shift.config.declared.subscriptions.empty() || declares(shift.config, kLogHandler)) return {};
  return unsubscribe(parts_.store, parts_.generation, std::string{kLogHandler});
}

Result<void> Delivery::forget(const Shift& before, const Shift& after) {
  for (const auto& subscription : before.config.declared.subscriptions) {
    if (declares(after.config, subscription.handler_name)) continue;
    auto gone = unsubscribe(parts_.store, parts_.generation, subscription.handler_name);
    if (!gone) return gone;
    parts_.logger.info("subscription removed", {{"handler_name", subscription.handler_name}});
  }
  return {};
}

Result<void> Delivery::reload(const config::Config& config) {
  auto prepared = prepare(config);
  if (!prepared) return std::move(prepared).error();
  std::shared_ptr<Shift> next = *std::move(prepared);
  const std::shared_ptr<Shift> before = current_;
  stop();
  auto begun = forget(*before, *next);
  if (begun) begun = begin(*next);
  const std::shared_ptr<Shift>& chosen = begun ? next : before;
  if (!begun) {
    if (auto restored = begin(*before); !restored) return restored;
  }
  const std::lock_guard lock{mutex_};
  current_ = chosen;
  return begun;
}

void Delivery::stop() {
  std::shared_ptr<Shift> last;
  {
    const std::lock_guard lock{mutex_};
    last = std::exchange(current_, nullptr);
  }
  if (last) end(*last);
}

void Delivery::end(Shift& shift) {
  for (const auto& supervisor : shift.supervisors) supervisor->request_stop();
  for (const auto& supervisor : shift.supervisors) supervisor->join();
  shift.supervisors.clear();
}

void Delivery::wake() {
  const std::lock_guard lock{mutex_};
  if (!current_) return;
  for (const auto& supervisor : current_->supervisors) supervisor->wake();
}

http::SinkReport Delivery::report(const std::string& name, const sink::Sink& sink) const {
  const std::lock_guard lock{mutex_};
  http::SinkReport report{sink.status(), {}};
  if (current_) {
    if (const auto served = current_->served.find(name); served != current_->served.end()) {
      report.subscriptions = served->second;
    }
  }
  return report;
}

std::vector<http::SinkReport> Delivery::list() const {
  Sinks sinks;
  {
    const std::lock_guard lock{mutex_};
    if (current_) sinks = current_->sinks;
  }
  std::vector<http::SinkReport> reports;
  for (const auto& [name, sink] : sinks) reports.push_back(report(name, *sink));
  return reports;
}

Result<std::shared_ptr<sink::Sink>> Delivery::find(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  if (current_) {
    if (const auto found = current_->sinks.find(name); found != current_->sinks.end()) return found->second;
  }
  return Error{ErrorCode::not_found, Retry::never, "there is no sink " + name, "name", {}};
}

void Delivery::log_switch(std::string_view what, const std::string& name, const store::Actor& actor) const {
  parts_.logger.info(what,
                     {{"sink", name}, {"actor", actor.name}, {"surface", actor.surface}, {"reason", actor.reason}});
}

Result<http::SinkReport> Delivery::pause(const std::string& name, const store::Actor& actor) {
  const auto sink = find(name);
  if (!sink) return sink.error();
  (*sink)->pause();
  log_switch("sink paused", name, actor);
  return report(name, **sink);
}

Result<http::SinkReport> Delivery::resume(const std::string& name, const store::Actor& actor) {
  const auto sink = find(name);
  if (!sink) return sink.error();
  (*sink)->resume();
  log_switch("sink resumed", name, actor);
  wake();
  return report(name, **sink);
}

Result<sink::ProbeReport> Delivery::probe(const std::string& name) {
  const auto sink = find(name);
  if (!sink) return sink.error();
  EnvelopeDraft draft;
  draft.event_id = make_uuid_v7(parts_.entropy.clock(), parts_.entropy.random());
  draft.event_type = "sluice.test";
  draft.source = "sluice";
  draft.occurred_at = parts_.entropy.clock();
  draft.payload = R"({"message":"a test delivery; nothing happened"})";
  return (*sink)->probe(EventEnvelope::trusted(draft));
}

}  // namespace sluice::daemon
