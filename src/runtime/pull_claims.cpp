#include "runtime/pull_claims.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "host/entropy.hpp"
#include "runtime/service.hpp"
#include "runtime/trace.hpp"

namespace sluice::runtime {
namespace {

// An event can be due and still not be claimable (its key is blocked): looking again at once would spin.
constexpr Duration kShortestRest = std::chrono::milliseconds{20};

constexpr std::chrono::seconds kRegistryAge{5};

Duration between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::max(Duration::zero(), std::chrono::ceil<Duration>(to - from));
}

const Subscription* find(const RegistrySnapshot& registry, const std::string& handler_name) {
  for (const Subscription& one : registry.subscriptions) {
    if (one.handler_name == handler_name) return &one;
  }
  return nullptr;
}

}  // namespace

PullClaims::PullClaims(store::Store& store, PullSettling& settling, PullPresence& presence, PullClaimsOptions options)
    : store_(store),
      settling_(settling),
      presence_(presence),
      options_(options),
      registry_(store, {options_.generation, 3 * PullPresence::kInterval}),
      observer_(options_.metrics) {
  if (options_.notifier == nullptr) return;
  registration_ = options_.notifier->add({[this](const Route& route) { return wants(route); }, [this] { wake(); }});
}

PullClaims::~PullClaims() {
  registration_.reset();
  stop();
}

void PullClaims::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) {
    IdleBackoff idle_backoff;
    auto cause = IdleBackoff::Cause::itself;
    while (!stop.stop_requested()) {
      const std::uint64_t seen = signal_.count();
      const std::size_t waiting = waiting_count_;
      const auto begun = IdleBackoff::Clock::now();
      const Duration rest = step();
      // Nobody who waits got an answer: the claims were in vain.
      if (waiting_count_ >= waiting) idle_backoff.found_nothing(IdleBackoff::Clock::now() - begun, cause);
      const bool woken = signal_.rest(stop, rest, seen);
      cause = woken ? IdleBackoff::Cause::woken : IdleBackoff::Cause::itself;
      idle_backoff.wait(stop);
    }
  }};
}

void PullClaims::stop() {
  thread_ = {};
  std::vector<Waiter> left;
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
    left = std::exchange(arrived_, {});
  }
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(left));
  waiting_.clear();
  for (Waiter& waiter : left) answer(waiter, std::vector<PulledEvent>{});
}

void PullClaims::reserve(std::set<std::string, std::less<>> handlers) {
  const std::lock_guard lock{mutex_};
  reserved_ = std::move(handlers);
}

Result<void> PullClaims::check(const PullQuestion& question) {
  const Subscription& wanted = question.subscription;
  if (auto checked = PullWorker{wanted.handler_name, question.worker}.validate(); !checked) return checked;
  if (!wanted.event_types.empty()) {
    SLUICE_CHECK(wanted.validate());
  }
  const std::lock_guard lock{mutex_};
  if (reserved_.contains(wanted.handler_name)) {
    return Error{ErrorCode::conflict, Retry::never,
                 "the daemon delivers the events of " + wanted.handler_name + " itself", "handler",
                 "choose another handler name, or remove its subscription from the configuration"};
  }
  return {};
}

void PullClaims::ask(PullQuestion question, Answer answer) {
  if (auto checked = check(question); !checked) return answer(std::move(checked).error());
  Waiter waiter{std::move(question), std::move(answer), {}};
  waiter.deadline = std::chrono::steady_clock::now() + waiter.question.wait;
  if (auto refused = take_in(waiter)) return waiter.answer(*std::move(refused));
  signal_.wake_all();
}

std::optional<Error> PullClaims::take_in(Waiter& waiter) {
  const std::lock_guard lock{mutex_};
  if (stopped_) return Error{ErrorCode::unavailable, Retry::safe, "the server is stopping", {}, "try another one"};
  if (waiting_count_ >= options_.most_waiting) {
    return Error{ErrorCode::exhausted, Retry::safe, "too many workers are waiting for events", {}, {}};
  }
  ++waiting_count_;
  waiter.number = ++questions_;
  wanted_.emplace(waiter.number, waiter.question.subscription);
  arrived_.push_back(std::move(waiter));
  return std::nullopt;
}

void PullClaims::wake() {
  woken_ = true;
  signal_.wake_all();
}

// Before a question without event types is looked at, nobody knows what it is about.
bool PullClaims::wants(const Route& route) const {
  const std::lock_guard lock{mutex_};
  return std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& entry) {
    return entry.second.event_types.empty() || entry.second.matches(route);
  });
}

void PullClaims::answer(Waiter& waiter, Result<std::vector<PulledEvent>> events) {
  {
    const std::lock_guard lock{mutex_};
    wanted_.erase(waiter.number);
  }
  waiter.answer(std::move(events));
}

// Known to the registry as it asks, and listed as alive.
Result<void> PullClaims::enlist(PullQuestion& question) {
  Subscription& wanted = question.subscription;
  // An operator may have taken the subscription away since.
  const TimePoint now = std::chrono::steady_clock::now();
  if (now - refreshed_ >= kRegistryAge || find(*registry_.current(), wanted.handler_name) == nullptr) {
    SLUICE_CHECK(registry_.refresh());
    refreshed_ = now;
  }
  const auto registry = registry_.current();
  // Before it subscribes: the relay would send its events where it does not look.
  if (!registry->relay.claims_here()) {
    return Error{ErrorCode::conflict, Retry::safe,
                 "deliveries go through " + registry->relay.broker + ": workers that pull get no events", "relay",
                 "use a listener of the library or a sink, or turn back with `sluice ladder relay --back`"};
  }
  const Subscription* known = find(*registry, wanted.handler_name);
  if (wanted.event_types.empty()) {
    if (known == nullptr) return invalid("event_types", "event_types are needed: " + wanted.handler_name + " is new");
    wanted = *known;
  }
  // Once per process also when it is known: whoever declared it before may withdraw it otherwise.
  if (known == nullptr || *known != wanted || !declared_.contains(wanted.handler_name)) {
    if (auto done = store_.subscribe(options_.generation, std::span{&wanted, 1}, "pull"); !done) return done;
    declared_.insert(wanted.handler_name);
    SLUICE_CHECK(registry_.refresh());
  }
  return presence_.note({wanted.handler_name, question.worker});
}

Result<std::vector<PulledEvent>> PullClaims::hand_out(std::vector<store::ClaimedEvent> events,
                                                      const PullQuestion& question, const std::string& secret) {
  const std::string& handler = question.subscription.handler_name;
  std::vector<store::HandledKey> keys;
  for (const store::ClaimedEvent& event : events) keys.push_back({handler, event.envelope.idempotency_key()});
  SLUICE_TRY(auto found, store_.already_handled(keys));
  const std::set<store::HandledKey> handled(found.begin(), found.end());
  std::vector<PulledEvent> pulled;
  std::vector<store::ClaimedEvent> known;
  for (store::ClaimedEvent& event : events) {
    if (event.unreadable || handled.contains({handler, event.envelope.idempotency_key()})) {
      known.push_back(std::move(event));
      continue;
    }
    std::string token = token_text({event.claim, handler, question.worker}, secret);
    const Timestamp expires_at = event.claimed_at + question.ttl;
    pulled.push_back({std::move(event), std::move(token), expires_at});
  }
  // If that fails their claims run out, and the next one to claim them asks again.
  static_cast<void>(settling_.acknowledge(std::move(known), handler).has_value());
  return pulled;
}

Result<std::vector<PulledEvent>> PullClaims::look(PullQuestion& question) {
  SLUICE_CHECK(enlist(question));
  // Before the claim: what cannot be handed out is not claimed.
  SLUICE_TRY(const auto secret, settling_.tokens().secret());
  const Subscription& subscription = question.subscription;
  store::ClaimRequest request;
  request.generation = options_.generation;
  request.worker = PullWorker{subscription.handler_name, question.worker}.identity();
  request.limit = question.limit;
  request.ttl = question.ttl;
  request.interests = subscription.interests();
  request.handlers = {subscription.handler_name};
  request.settled_here = false;
  const Timestamp began = options_.tracer != nullptr ? host::wall_clock() : Timestamp{};
  const auto begun = std::chrono::steady_clock::now();
  auto events = store_.claim(request);
  if (!events) {
    observer_.refused();
    return std::move(events).error();
  }
  observer_.claimed(events->size(), request.limit, between(begun, std::chrono::steady_clock::now()));
  if (events->empty()) return std::vector<PulledEvent>{};
  trace_claim(options_.tracer, *events, began);
  return hand_out(*std::move(events), question, secret);
}

Duration PullClaims::rest_of(const std::string& handler_name) {
  const auto due = store_.next_due(options_.generation, {handler_name});
  const auto now = due && *due ? store_.now() : Result<Timestamp>{Timestamp{}};
  if (!due || !*due || !now) return options_.poll;
  return std::clamp(**due - *now, kShortestRest, options_.poll);
}

// True when the waiter has its answer.
bool PullClaims::serve(Waiter& waiter, TimePoint now) {
  const std::string& handler = waiter.question.subscription.handler_name;
  const auto next = next_look_.find(handler);
  const bool may_find = next == next_look_.end() || next->second <= now;
  if (may_find || waiter.fresh) {
    waiter.fresh = false;
    auto found = look(waiter.question);
    if (!found || !found->empty()) {
      answer(waiter, std::move(found));
      return true;
    }
    next_look_[handler] = now + rest_of(handler);
    const std::lock_guard lock{mutex_};
    wanted_[waiter.number] = waiter.question.subscription;
  }
  if (waiter.deadline > now) {
    // Says so also while nothing is found. A failure shows at the next claim.
    static_cast<void>(presence_.note({handler, waiter.question.worker}).has_value());
    return false;
  }
  answer(waiter, std::vector<PulledEvent>{});
  return true;
}

Duration PullClaims::step() {
  if (woken_.exchange(false)) next_look_.clear();
  {
    const std::lock_guard lock{mutex_};
    std::move(arrived_.begin(), arrived_.end(), std::back_inserter(waiting_));
    arrived_.clear();
  }
  const TimePoint now = std::chrono::steady_clock::now();
  std::vector<Waiter> left;
  for (Waiter& waiter : waiting_) {
    if (!serve(waiter, now)) left.push_back(std::move(waiter));
  }
  waiting_count_ -= waiting_.size() - left.size();
  waiting_ = std::move(left);

  Duration rest = waiting_.empty() ? Duration{std::chrono::hours{1}} : Duration{PullPresence::kInterval / 2};
  for (const Waiter& waiter : waiting_) {
    rest = std::min(rest, between(now, waiter.deadline));
    const auto next = next_look_.find(waiter.question.subscription.handler_name);
    rest = std::min(rest, next == next_look_.end() ? Duration::zero() : between(now, next->second));
  }
  return rest;
}

}  // namespace sluice::runtime
