#include "runtime/reaper.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/decide.hpp"
#include "core/try.hpp"
#include "host/identity.hpp"

namespace sluice::runtime {

namespace {

constexpr Duration kWorkersRemembered = std::chrono::hours{24};  // the store forgets them then

FailureNotice notice_of(const store::ExpiredClaim& expired, const Settlement& settlement) {
  FailureNotice notice;
  notice.event_id = expired.claim.event_id;
  notice.error_class = settlement.records_error ? settlement.error_class : expired.error_class;
  notice.fingerprint = settlement.records_error ? settlement.fingerprint : expired.fingerprint;
  notice.last_error = settlement.records_error ? settlement.last_error : expired.last_error;
  notice.attempts = expired.attempts + (settlement.counts_attempt ? 1 : 0);
  return notice;
}

bool is_of(std::string_view worker, std::string_view identity) {
  return worker == identity || (worker.starts_with(identity) && worker.substr(identity.size()).starts_with('/'));
}

// `crm` of `<identity>/crm/0`; a process with one pool has none in the names of its workers.
std::string_view pool_named(std::string_view worker, std::string_view identity) {
  const std::string_view rest = worker.substr(std::min(identity.size() + 1, worker.size()));
  const std::size_t end = rest.rfind('/');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

// Of which handlers an attempt was counted; of one that is not known, nobody's.
std::vector<Attempt> expired_attempts(const store::ExpiredClaim& claim, const Settlement& settlement,
                                      const HandlerNames& hosted) {
  std::vector<Attempt> attempts;
  const auto add = [&](std::string handler_name) {
    Attempt attempt = *attempt_of(Outcome::expired());
    attempt.handler_name = std::move(handler_name);
    attempt.worker = claim.worker;
    attempt.started_at = claim.claimed_at;
    attempt.took = std::max(claim.seen_at - claim.claimed_at, Duration::zero());
    attempts.push_back(std::move(attempt));
  };
  if (settlement.progress.empty()) {
    add(hosted.size() == 1 ? *hosted.begin() : std::string{});
    return attempts;
  }
  for (const HandlerProgress& after : settlement.progress) {
    const auto before = std::find_if(claim.progress.begin(), claim.progress.end(),
                                     [&](const auto& one) { return one.handler_name == after.handler_name; });
    if (before == claim.progress.end() || after.attempts > before->attempts) add(after.handler_name);
  }
  return attempts;
}

}  // namespace

/// Who is subscribed, and who hosts what: read once for a batch of claims.
struct Reaper::Surroundings {
  std::vector<store::WorkerRecord> workers;
  std::map<Generation, std::vector<Subscription>> subscriptions;
  std::optional<store::RegistryVersion> version;
};

Reaper::Reaper(store::Maintaining& expired, store::Claiming& claims, store::Observing& registry,
               telemetry::Logger logger, ReaperOptions options)
    : expired_(expired),
      claims_(claims),
      registry_(registry),
      logger_(std::move(logger)),
      options_(std::move(options)) {}

Result<StepReport> Reaper::step(int limit) {
  SLUICE_TRY(const auto expired, expired_.expired_claims(limit));
  return take_back(expired);
}

Result<Reaper::Surroundings> Reaper::look_around(const std::vector<store::ExpiredClaim>& claims) {
  Surroundings around;
  auto workers = registry_.workers(kWorkersRemembered);
  if (!workers) return std::move(workers).error();
  around.workers = *std::move(workers);
  for (const store::ExpiredClaim& claim : claims) {
    if (around.subscriptions.contains(claim.generation)) continue;
    SLUICE_TRY(const auto registry, registry_.registry(claim.generation));
    // All generations share one version. The oldest that was read is what the decisions are based on.
    around.version = std::min(around.version.value_or(registry.version), registry.version);
    auto& subscriptions = around.subscriptions[claim.generation];
    for (const auto& record : registry.subscriptions) subscriptions.push_back(record.subscription);
  }
  return around;
}

RetryPolicy Reaper::policy_of(const std::string& handler_name) const {
  if (options_.retry_of) {
    if (auto known = options_.retry_of(handler_name)) return *std::move(known);
  }
  return options_.retry;
}

// A worker hosts the handlers of its pool, and its process is listed with those of all pools.
bool Reaper::may_have_run(const std::string& handler_name, std::string_view pool) const {
  if (pool.empty() || !options_.pool_of) return true;
  const auto known = options_.pool_of(handler_name);
  return !known || *known == pool;
}

store::SettleItem Reaper::decide(const store::ExpiredClaim& claim, const Surroundings& around) const {
  // No handler has seen it: the broker has the message or has not, and knows it by its id when it is published again.
  if (claim.worker.find(store::kRelayMark) != std::string::npos) {
    Settlement again = settle(claim.attempts, Outcome::released(), {}, 0.0);
    again.progress = claim.progress;
    return {claim.claim, std::move(again), {}, {}};
  }
  HandlerNames hosted;
  HandlerNames served;
  for (const store::WorkerRecord& worker : around.workers) {
    if (is_of(claim.worker, worker.identity)) {
      const std::string_view pool = pool_named(claim.worker, worker.identity);
      for (const std::string& name : worker.handlers) {
        if (may_have_run(name, pool)) hosted.insert(name);
      }
    }
    const bool alive = worker.seen_at >= claim.seen_at - options_.alive_within;
    if (alive && worker.generation == claim.generation) served.insert(worker.handlers.begin(), worker.handlers.end());
  }
  HandlerNames subscribed;
  std::vector<std::string> wanted;
  const Route route{claim.event_type, claim.target, claim.channel};
  for (const Subscription& subscription : around.subscriptions.at(claim.generation)) {
    subscribed.insert(subscription.handler_name);
    if (subscription.matches(route)) wanted.push_back(subscription.handler_name);
  }
  // Only those that want the event can have run; where none does any more, nobody knows which did.
  HandlerNames suspected;
  for (const std::string& handler : wanted) {
    if (hosted.contains(handler)) suspected.insert(handler);
  }
  if (!suspected.empty()) hosted = std::move(suspected);
  // A handler that nobody subscribes any more would never be tried: nothing may wait for it.
  std::vector<HandlerProgress> progress = claim.progress;
  std::erase_if(progress, [&](const HandlerProgress& one) { return !subscribed.contains(one.handler_name); });
  // Which of its handlers ran is not known: the most patient one decides.
  std::optional<RetryPolicy> policy;
  for (const std::string& handler : hosted) {
    RetryPolicy own = policy_of(handler);
    if (!policy || own.max_attempts > policy->max_attempts) policy = std::move(own);
  }
  Settlement settlement =
      expire({.attempts = claim.attempts,
              .progress = progress,
              .last_error = claim.last_error,
              .error_class = claim.error_class,
              .fingerprint = claim.fingerprint,
              .wanted = wanted,
              .hosted = hosted,
              .served = served,
              .claimed_at = claim.claimed_at,
              .now = claim.seen_at,
              .uniform01 = options_.uniform01()},
             policy.value_or(options_.retry), [this](const std::string& name) { return policy_of(name); });
  std::vector<Attempt> attempts = expired_attempts(claim, settlement, hosted);
  return {claim.claim, std::move(settlement), {}, {}, std::move(attempts)};
}

Result<StepReport> Reaper::take_back(const std::vector<store::ExpiredClaim>& expired) {
  if (expired.empty()) return StepReport{};
  std::vector<store::SettleItem> items;
  Result<store::SettleReport> settled = store::registry_changed();
  // The subscriptions may change between reading and settling; if they do so all the time, the next step comes to
  // it.
  for (int tries = 0; tries < 2 && !settled && store::is_registry_changed(settled.error()); ++tries) {
    SLUICE_TRY(const auto around, look_around(expired));
    items.clear();
    for (const store::ExpiredClaim& claim : expired) items.push_back(decide(claim, around));
    settled = claims_.settle(items, around.version);
  }
  if (!settled) return settled.error();

  const std::set<Uuid> fenced(settled->fenced.begin(), settled->fenced.end());
  StepReport report;
  report.claimed = static_cast<std::int64_t>(expired.size());
  report.fenced = static_cast<std::int64_t>(fenced.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (fenced.contains(items[i].claim.event_id)) continue;
    const bool failed = items[i].settlement.next == Status::failed;
    ++(failed ? report.failed : report.retried);
    logger_.warn("claim expired", {{"event_id", items[i].claim.event_id.to_string()},
                                   {"claimed_by", expired[i].worker},
                                   {"attempts", expired[i].attempts + (items[i].settlement.counts_attempt ? 1 : 0)},
                                   {"status_result", failed ? "failed" : "retry"}});
    if (failed && options_.on_failed) options_.on_failed(notice_of(expired[i], items[i].settlement));
  }
  return report;
}

namespace {

constexpr Duration kRemembered = std::chrono::hours{24};  // workers not seen for longer are forgotten by the store
constexpr int kBatch = 500;

Result<StepReport> take_back_from(store::Store& store, const std::string& identity, Reaper& reaper) {
  StepReport total;
  for (;;) {
    SLUICE_TRY(const auto held, store.claims_held_by(identity, kBatch));
    SLUICE_TRY(const auto report, reaper.take_back(held));
    total += report;
    // A fenced event has another owner by now. If only those are left, asking again would never end.
    if (held.size() < static_cast<std::size_t>(kBatch) || report.fenced == report.claimed) return total;
  }
}

}  // namespace

bool provably_gone(const std::string& identity, const Machine& machine) {
  const auto named = host::process_named(identity);
  const auto here = host::process_named(machine.identity);
  return named && here && named->host == here->host && named->machine == here->machine && named->pid != here->pid &&
         machine.is_gone(named->pid);
}

Result<StepReport> take_back_orphans(store::Store& store, const Machine& machine, Reaper& reaper,
                                     const telemetry::Logger& logger) {
  SLUICE_TRY(const auto workers, store.workers(kRemembered));
  StepReport total;
  for (const store::WorkerRecord& worker : workers) {
    if (!provably_gone(worker.identity, machine)) continue;
    SLUICE_TRY(const auto report, take_back_from(store, worker.identity, reaper));
    total += report;
    SLUICE_CHECK(store.depart(worker.identity));
    logger.warn("a worker of this machine is gone without having signed off",
                {{"worker", worker.identity}, {"events_taken_back", report.claimed}});
  }
  return total;
}

}  // namespace sluice::runtime
