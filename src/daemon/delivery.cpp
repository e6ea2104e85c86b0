#include "daemon/delivery.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "ops/sinks.hpp"
#include "runtime/service.hpp"

namespace sluice::daemon {
namespace {

const store::Actor kReload{"sluice", "config", "no longer declared in the configuration"};

bool declares(const config::Config& config, std::string_view handler) {
  const auto& all = config.declared.subscriptions;
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.handler_name == handler; });
}

// A subscription that is gone already is what was wanted.
Result<void> unsubscribe(store::Administering& store, Generation generation, const std::string& handler) {
  auto done = store.unsubscribe(generation, handler, kReload);
  if (!done && done.error().code != ErrorCode::not_found) return done;
  return {};
}

}  // namespace

Result<std::unique_ptr<Delivery::Shift>> Delivery::prepare(const config::Config& config) const {
  if (auto set = board_.set_clock(); !set) return std::move(set).error();
  auto sinks = parts_.open_sinks(config, board_.clock());
  if (!sinks) return std::move(sinks).error();
  auto shift = std::make_unique<Shift>(Shift{config, *std::move(sinks), {}, {}});
  for (const auto& subscription : config.declared.subscriptions) {
    shift->served[subscription.sink].push_back(subscription.handler_name);
  }
  if (config.declared.subscriptions.empty()) shift->served["log"].emplace_back(kLogHandler);
  return shift;
}

Result<void> Delivery::begin(Shift& shift) {
  if (auto known = board_.put_up(shift.sinks, shift.served); !known) return known;
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
  options.declared_by = shift.config.declarer;
  options.retry_of = [all = shift.config.declared.subscriptions](const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.handler_name == name; });
    return found == all.end() ? std::nullopt : std::optional{found->retry};
  };
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
  return {sink, shift.sinks.at(sink), parts_.metrics, board_};
}

Result<void> Delivery::start(const config::Config& config) {
  auto prepared = prepare(config);
  if (!prepared) return std::move(prepared).error();
  std::shared_ptr<Shift> shift = *std::move(prepared);
  if (auto forgotten = forget_log_handler(*shift); !forgotten) return forgotten;
  if (auto noted = note_leftovers(*shift); !noted) return noted;
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

Result<void> Delivery::note_leftovers(const Shift& shift) {
  std::set<std::string, std::less<>> declared;
  for (const auto& [sink, handlers] : shift.served) declared.insert(handlers.begin(), handlers.end());
  if (auto noted = leftovers_.note(shift.config.declarer, declared); !noted) return noted;
  const auto done = leftovers_.step();
  return done ? Result<void>{} : Result<void>{done.error()};
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
  if (begun) begun = note_leftovers(*next);
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

std::optional<Error> Delivery::trouble() const {
  const std::lock_guard lock{mutex_};
  if (!current_) return std::nullopt;
  for (const auto& supervisor : current_->supervisors) {
    if (auto trouble = supervisor->trouble()) return trouble;
  }
  return std::nullopt;
}

std::vector<sink::SinkStatus> Delivery::list() const {
  Sinks sinks;
  {
    const std::lock_guard lock{mutex_};
    if (current_) sinks = current_->sinks;
  }
  std::vector<sink::SinkStatus> statuses;
  for (const auto& [unused, sink] : sinks) statuses.push_back(sink->status());
  return statuses;
}

void Delivery::refresh() {
  if (auto done = board_.sync(); !done) {
    runtime::log_error(parts_.logger, "cannot read the state of the sinks; trying again", done.error());
  }
}

Result<std::shared_ptr<sink::Sink>> Delivery::find(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  if (current_) {
    if (const auto found = current_->sinks.find(name); found != current_->sinks.end()) return found->second;
  }
  return Error{ErrorCode::not_found, Retry::never, "there is no sink " + name, "name", {}};
}

Result<sink::ProbeReport> Delivery::probe(const std::string& name) {
  const auto sink = find(name);
  if (!sink) return sink.error();
  return (*sink)->probe(ops::trial_event(parts_.entropy));
}

}  // namespace sluice::daemon
