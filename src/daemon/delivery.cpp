#include "daemon/delivery.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/try.hpp"
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
  SLUICE_CHECK(board_.set_clock());
  SLUICE_TRY(auto sinks, parts_.open_sinks(config, board_.clock()));
  auto shift = std::make_unique<Shift>(Shift{config, std::move(sinks), {}, {}});
  for (const auto& subscription : config.declared.subscriptions) {
    shift->served[subscription.sink].push_back(subscription.handler_name);
  }
  // A daemon that relays may have nothing of its own to deliver.
  if (config.declared.subscriptions.empty() && config.relay.urls.empty())
    shift->served["log"].emplace_back(kLogHandler);
  return shift;
}

Result<void> Delivery::begin(Shift& shift) {
  SLUICE_CHECK(board_.put_up(shift.sinks, shift.served));
  runtime::SupervisorOptions wanted = options(shift);
  SLUICE_TRY(auto pools, this->pools(shift, wanted.workers));
  SLUICE_TRY(shift.supervisor,
             runtime::Supervisor::start(parts_.store, std::move(pools), parts_.logger, std::move(wanted)));
  return {};
}

runtime::SupervisorOptions Delivery::options(const Shift& shift) const {
  runtime::SupervisorOptions options = parts_.options(shift.config);
  options.worker.identity = parts_.fresh_identity();
  options.declared_by = shift.config.declarer;
  // The log is for looking on: no event waits for it while it is away. What is declared waits.
  options.withdraw = shift.config.declared.subscriptions.empty();
  return options;
}

Result<std::vector<runtime::PoolOptions>> Delivery::pools(const Shift& shift, int workers) const {
  std::vector<runtime::PoolOptions> pools;
  for (const auto& [sink, unused] : shift.served) {
    SLUICE_TRY(auto hosted, handlers(shift, sink));
    pools.push_back({sink, std::move(hosted), workers});
  }
  return pools;
}

Result<runtime::HandlerSet> Delivery::handlers(const Shift& shift, const std::string& sink) const {
  runtime::HandlerSet set;
  for (const auto& subscription : shift.config.declared.subscriptions) {
    if (subscription.sink != sink) continue;
    SLUICE_CHECK(set.add(handler_of(subscription, outlet(shift, sink))));
  }
  if (set.empty()) SLUICE_CHECK(set.add(log_everything(outlet(shift, sink), shift.config.retry)));
  return set;
}

Outlet Delivery::outlet(const Shift& shift, const std::string& sink) const {
  return {sink, shift.sinks.at(sink), parts_.metrics, board_};
}

Result<void> Delivery::start(const config::Config& config) {
  SLUICE_TRY(std::shared_ptr<Shift> shift, prepare(config));
  SLUICE_CHECK(forget_log_handler(*shift));
  SLUICE_CHECK(note_leftovers(*shift));
  SLUICE_CHECK(begin(*shift));
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
  SLUICE_CHECK(leftovers_.note(shift.config.declarer, declared));
  SLUICE_CHECK(leftovers_.step());
  return {};
}

Result<void> Delivery::forget(const Shift& before, const Shift& after) {
  for (const auto& subscription : before.config.declared.subscriptions) {
    if (declares(after.config, subscription.handler_name)) continue;
    SLUICE_CHECK(unsubscribe(parts_.store, parts_.generation, subscription.handler_name));
    parts_.logger.info("subscription removed", {{"handler_name", subscription.handler_name}});
  }
  return {};
}

Result<void> Delivery::reload(const config::Config& config) {
  SLUICE_TRY(const std::shared_ptr<Shift> next, prepare(config));
  const std::shared_ptr<Shift> before = current_;
  stop();
  auto begun = forget(*before, *next);
  if (begun) begun = note_leftovers(*next);
  if (begun) begun = begin(*next);
  const std::shared_ptr<Shift>& chosen = begun ? next : before;
  if (!begun) {
    SLUICE_CHECK(begin(*before));
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
  if (!shift.supervisor) return;
  shift.supervisor->request_stop();
  shift.supervisor->join();
  shift.supervisor.reset();
}

std::optional<Error> Delivery::trouble() const {
  const std::lock_guard lock{mutex_};
  return current_ && current_->supervisor ? current_->supervisor->trouble() : std::nullopt;
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
  SLUICE_TRY(const auto sink, find(name));
  return sink->probe(ops::trial_event(parts_.entropy));
}

}  // namespace sluice::daemon
