#include "runtime/pull_settling.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/try.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/service.hpp"
#include "runtime/settler.hpp"

namespace sluice::runtime {

namespace {

constexpr std::size_t kNameMaxBytes = 64;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"._:-@[]"}.find(c) != std::string_view::npos;
}

}  // namespace

Result<void> PullWorker::validate() const {
  if (auto checked = check_handler_name(handler_name); !checked) {
    Error error = std::move(checked).error();
    error.field = "handler";
    return error;
  }
  if (!name.empty() && name.size() <= kNameMaxBytes && std::all_of(name.begin(), name.end(), is_name_char)) return {};
  return invalid("worker", "worker must be 1 to 64 letters, digits and any of . _ : - @ [ ]");
}

PullPresence::PullPresence(store::Claiming& store, Generation generation) : store_(store), generation_(generation) {}

bool PullPresence::is_due(const std::string& identity, TimePoint now) {
  const std::lock_guard lock{mutex_};
  std::erase_if(noted_, [&](const auto& entry) { return now - entry.second >= kInterval / 2; });
  return noted_.emplace(identity, now).second;
}

Result<void> PullPresence::note(const PullWorker& worker) {
  const std::string identity = worker.identity();
  if (!is_due(identity, std::chrono::steady_clock::now())) return {};
  auto announced = store_.announce({identity, generation_, {worker.handler_name}, "pulling", {}, {}});
  if (announced) return {};
  const std::lock_guard lock{mutex_};
  noted_.erase(identity);
  return announced;
}

namespace {

store::ClaimedEvent claimed_event(store::EventRecord record, const store::ClaimRef& claim, Timestamp now) {
  return {std::move(record.envelope),
          claim,
          record.generation,
          std::move(record.channel),
          std::move(record.ordering_key),
          record.attempts,
          now,
          std::move(record.progress)};
}

// The events are handled elsewhere: what stands here is their handler's name and policy.
RegisteredHandler stand_in(const std::string& handler_name, const PullSettlingOptions& options) {
  RegisteredHandler handler{.subscription = {}, .handler = [](const EventEnvelope&) {}, .retry = {}};
  handler.subscription.handler_name = handler_name;
  handler.retry = options.retry ? options.retry(handler_name) : RetryPolicy::standard();
  return handler;
}

}  // namespace

std::string_view name(PullVerdict::Kind kind) {
  switch (kind) {
    case PullVerdict::Kind::settled:
      return "settled";
    case PullVerdict::Kind::fenced:
      return "fenced";
    case PullVerdict::Kind::repeated:
      return "repeated";
    case PullVerdict::Kind::unknown:
      break;
  }
  return "unknown";
}

/// Events of one generation, which decides who is subscribed.
struct PullSettling::Batch {
  Generation generation = kFirstGeneration;
  HandlerSet handlers;
  std::vector<Work> works;
  struct Report {
    std::string handler_name;
    Outcome outcome;
    RunTime time{};
  };
  std::vector<Report> reports;  ///< one per work
  std::function<void(const Work& work, bool fenced)> on_settled;
};

PullSettling::PullSettling(store::Store& store, PullPresence& presence, telemetry::Logger logger,
                           PullSettlingOptions options)
    : store_(store), presence_(presence), logger_(std::move(logger)), options_(std::move(options)) {}

// About the workers' list only: what is settled must not wait for it.
void PullSettling::note_presence(const PullToken& token) {
  const auto noted = presence_.note({token.handler_name, token.worker});
  if (!noted) log_error(logger_, "a worker that pulls cannot be listed", noted.error());
}

Result<void> PullSettling::settle_generation(Batch& batch) {
  RegistryView registry{store_, {batch.generation, 3 * PullPresence::kInterval}};
  SLUICE_CHECK(registry.refresh());
  const auto snapshot = registry.current();
  RouteMemo routes{*snapshot};
  std::vector<HandlerList> subscribed;
  for (const Work& work : batch.works) subscribed.emplace_back(routes.matching(work.route()));
  SLUICE_CHECK(find_handled(store_, batch.works, subscribed));
  SLUICE_CHECK(find_replays(store_, batch.works));
  Settler settler{
      store_,
      registry,
      batch.handlers,
      logger_.with_generation(batch.generation),
      {1, options_.on_failed, options_.metrics, batch.on_settled, {{}, options_.record_successes}, options_.tracer}};
  for (std::size_t i = 0; i < batch.works.size(); ++i) {
    Work& work = batch.works[i];
    const Batch::Report& report = batch.reports[i];
    const RegisteredHandler& handler = *batch.handlers.find(report.handler_name);
    if (work.handled_before.contains(handler.name())) {
      work.notes.push_back({handler.name(), Outcome::handled(), {}, true});
    } else if (report.outcome.kind == Outcome::Kind::released) {
      work.release = true;
    } else {
      work.note(handler, {report.outcome, report.time}, options_.uniform01());
    }
    settler.add(std::move(work));
  }
  auto settled = settler.settle();
  return settled ? Result<void>{} : Result<void>{std::move(settled).error()};
}

Result<std::vector<PullVerdict>> PullSettling::settle(std::span<const PullSettlement> settlements) {
  const auto now = store_.now();
  if (!now) return now.error();
  std::vector<PullVerdict> verdicts(settlements.size());
  // Two reports about one event are told apart by the claim that they hold.
  std::map<std::pair<Uuid, std::int64_t>, std::size_t> positions;
  std::map<Generation, Batch> batches;
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    const PullToken& token = settlements[i].token;
    if (!positions.emplace(std::pair{token.claim.event_id, token.claim.claim_seq}, i).second) {
      verdicts[i].kind = PullVerdict::Kind::repeated;
      continue;
    }
    note_presence(token);
    auto record = store_.get_event(token.claim.event_id);
    if (!record && record.error().code == ErrorCode::not_found) continue;
    if (!record) return std::move(record).error();
    Batch& batch = batches[record->generation];
    batch.generation = record->generation;
    if (batch.handlers.find(token.handler_name) == nullptr) {
      if (auto added = batch.handlers.add(stand_in(token.handler_name, options_)); !added)
        return std::move(added).error();
    }
    const auto here = std::chrono::steady_clock::now();
    const Duration took = *now - record->claimed_at.value_or(*now);
    batch.reports.push_back({token.handler_name, settlements[i].outcome, {here - took, took}});
    batch.works.emplace_back(claimed_event(*std::move(record), token.claim, *now), here);
    batch.works.back().held_by = PullWorker{token.handler_name, token.worker}.identity();
  }
  for (auto& [generation, batch] : batches) {
    batch.on_settled = [&](const Work& work, bool fenced) {
      const std::size_t position = positions.at({work.event.claim.event_id, work.event.claim.claim_seq});
      verdicts[position] = {fenced ? PullVerdict::Kind::fenced : PullVerdict::Kind::settled,
                            work.decision.settlement.next};
    };
    SLUICE_CHECK(settle_generation(batch));
  }
  const bool pending = std::any_of(verdicts.begin(), verdicts.end(), [](const PullVerdict& verdict) {
    return verdict.kind == PullVerdict::Kind::settled && verdict.status == Status::pending;
  });
  if (pending && options_.claimable) options_.claimable();
  return verdicts;
}

Result<void> PullSettling::acknowledge(std::vector<store::ClaimedEvent> events, const std::string& handler_name) {
  if (events.empty()) return {};
  Batch batch;
  batch.generation = events.front().generation;
  SLUICE_CHECK(batch.handlers.add(stand_in(handler_name, options_)));
  for (store::ClaimedEvent& event : events) {
    batch.works.emplace_back(std::move(event), std::chrono::steady_clock::now());
    // Whether it was handled is looked up once more; given back if not.
    batch.reports.push_back({handler_name, Outcome::released(), {}});
  }
  return settle_generation(batch);
}

Result<std::vector<std::size_t>> PullSettling::heartbeat(std::span<const PullToken> tokens, Duration ttl) {
  // Of several claims of one event all but the newest are lost.
  std::map<Uuid, store::ClaimRef> newest;
  for (const PullToken& token : tokens) {
    note_presence(token);
    const auto [known, fresh] = newest.emplace(token.claim.event_id, token.claim);
    if (!fresh && known->second.claim_seq < token.claim.claim_seq) known->second = token.claim;
  }
  std::vector<store::ClaimRef> claims;
  claims.reserve(newest.size());
  for (const auto& [event_id, claim] : newest) claims.push_back(claim);
  SLUICE_TRY(const auto lost, store_.heartbeat(claims, ttl));
  for (const Uuid& event_id : lost) newest.erase(event_id);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto kept = newest.find(tokens[i].claim.event_id);
    if (kept == newest.end() || kept->second.claim_seq != tokens[i].claim.claim_seq) positions.push_back(i);
  }
  return positions;
}

}  // namespace sluice::runtime
