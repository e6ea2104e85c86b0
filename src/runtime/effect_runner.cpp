#include "runtime/effect_runner.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/try.hpp"
#include "runtime/run_handler.hpp"
#include "runtime/trace.hpp"

namespace sluice::runtime {
namespace {

using Entered = store::EffectTransaction::Entered;

/// The transaction as the handler sees it.
class HandlerTransaction final : public Transaction {
 public:
  explicit HandlerTransaction(store::EffectTransaction& effect) : effect_(effect) {}

  std::vector<Row> query(std::string_view sql, std::span<const Value> params) override { return run(sql, params).rows; }
  std::int64_t execute(std::string_view sql, std::span<const Value> params) override {
    return run(sql, params).affected;
  }
  [[nodiscard]] pg_conn* postgres() const override { return effect_.native().postgres; }
  [[nodiscard]] sqlite3* sqlite() const override { return effect_.native().sqlite; }

 private:
  store::StatementResult run(std::string_view sql, std::span<const Value> params) {
    auto outcome = effect_.statement(sql, params);
    if (auto* error = std::get_if<store::StatementError>(&outcome))
      throw SqlError{error->sqlstate, error->error.message};
    return std::get<store::StatementResult>(std::move(outcome));
  }

  store::EffectTransaction& effect_;
};

store::EffectTransaction::Entry entry_of(const Work& work) {
  return {work.event.claim, work.event.envelope.idempotency_key()};
}

}  // namespace

/// One transaction and what ran in it. Nothing of it reaches the works before the commit.
struct EffectRunner::Pass {
  const RegisteredHandler& handler;
  const RunContext& context;
  const std::function<bool(const Work&)>& last;
  Done& done;
  bool one_by_one = false;  ///< the batch failed as one: find out who it was
  bool in_doubt = false;

  struct Result {
    Work* work;
    Outcome outcome;
    RunTime time;
    bool deduplicated = false;
    bool fenced = false;
    std::string traceparent{};  ///< of the span that it ran in
  };
  std::unique_ptr<store::EffectTransaction> transaction;
  std::vector<Result> results;
  std::vector<Work> decided;  ///< copies, with their decisions
  store::SettleReport report;
};

EffectRunner::EffectRunner(store::Claiming& store, RegistryView& registry, const HandlerSet& handlers,
                           EffectRunnerOptions options)
    : store_(store), registry_(registry), handlers_(handlers), options_(std::move(options)) {}

Result<EffectRunner::Done> EffectRunner::run(const RegisteredHandler& handler, std::span<Work* const> works,
                                             const RunContext& context, const std::function<bool(const Work&)>& last) {
  Done done;
  Pass pass{handler, context, last, done};
  int failures = 0;
  while (!works.empty()) {
    const Result<std::size_t> finished = one_transaction(pass, works);
    if (finished) {
      works = works.subspan(*finished);
      pass.in_doubt = false;
      failures = 0;
      continue;
    }
    pass.in_doubt = pass.in_doubt || finished.error().retry == Retry::in_doubt;
    done.in_doubt = done.in_doubt || pass.in_doubt;
    if (store::is_registry_changed(finished.error())) {
      SLUICE_CHECK(registry_.refresh());
    }
    if (finished.error().retry == Retry::never || ++failures >= options_.tries) return finished.error();
  }
  return done;
}

// Returns how many of the works it has dealt with; at least one.
Result<std::size_t> EffectRunner::one_transaction(Pass& pass, std::span<Work* const> works) {
  SLUICE_TRY(auto begun, store_.begin_effect(options_.longest_idle));
  pass.transaction = std::move(begun);
  pass.results.clear();
  pass.decided.clear();
  const bool batch = std::holds_alternative<EventHandler::BatchOnce>(pass.handler.handler.shape());
  Result<std::size_t> ran = batch ? run_batch(pass, works) : run_each(pass, works);
  if (!ran || *ran == 0) {
    pass.transaction.reset();
    return ran;
  }
  if (options_.at) options_.at("before_settle");
  if (auto settled = settle(pass); !settled) {
    pass.transaction.reset();
    return std::move(settled).error();
  }
  auto committed = pass.transaction->commit();
  pass.transaction.reset();
  if (!committed) return std::move(committed).error();
  if (options_.at) options_.at("settled");

  std::size_t next = 0;
  for (Pass::Result& result : pass.results) {
    if (result.fenced) {
      // After a lost answer: most likely settled by the transaction that seemed lost.
      result.work->release = true;
      pass.done.settled.push_back(result.work);
      pass.done.report.fenced.push_back(result.work->event.claim.event_id);
      continue;
    }
    Work& work = *result.work;
    if (pass.last(work)) {
      work = std::move(pass.decided[next++]);
      pass.done.settled.push_back(&work);
      continue;
    }
    if (result.deduplicated) {
      work.handled_before.insert(pass.handler.name());
      work.notes.push_back({pass.handler.name(), Outcome::handled(), {}, true});
    } else {
      if (result.outcome.kind == Outcome::Kind::handled) work.recorded.insert(pass.handler.name());
      work.note(pass.handler, {result.outcome, result.time, result.traceparent}, options_.uniform01());
    }
  }
  pass.done.report.settled += pass.report.settled;
  pass.done.report.fenced.insert(pass.done.report.fenced.end(), pass.report.fenced.begin(), pass.report.fenced.end());
  return ran;
}

Result<std::size_t> EffectRunner::run_each(Pass& pass, std::span<Work* const> works) {
  const auto begun = std::chrono::steady_clock::now();
  const Duration before = pass.context.in_handlers;
  HandlerTransaction transaction{*pass.transaction};
  const auto* each = std::get_if<EventHandler::EachOnce>(&pass.handler.handler.shape());
  const auto* batch = std::get_if<EventHandler::BatchOnce>(&pass.handler.handler.shape());
  std::size_t done = 0;
  for (Work* work : works) {
    if (done > 0 && std::chrono::steady_clock::now() - begun > options_.longest_transaction) break;
    SLUICE_CHECK(pass.transaction->mark());
    const auto entry = entry_of(*work);
    SLUICE_TRY(const auto entered, pass.transaction->enter(pass.handler.name(), std::span{&entry, 1}));
    ++done;
    if (entered.front() != Entered::fresh) {
      const bool fenced = entered.front() == Entered::fenced;
      pass.results.push_back({work, Outcome::handled(), {}, !fenced, fenced});
      continue;
    }
    RunResult ran = guarded_run(pass.handler, std::span{&work, 1}, pass.context, [&](const Delivery& delivery) {
      if (each != nullptr) return std::vector{outcome_of((*each)(work->event.envelope, transaction, delivery))};
      (*batch)(std::span{&work->event.envelope, 1}, transaction, delivery);
      return std::vector{Outcome::handled()};
    });
    if (ran.outcomes.front().kind != Outcome::Kind::handled) {
      SLUICE_CHECK(pass.transaction->undo_to_mark());
    }
    Work::Ran one = ran.take(0);
    pass.results.push_back({work, std::move(one.outcome), one.time, false, false, std::move(one.traceparent)});
  }
  // The dedup row and the savepoint of each event cost as much again in a batch that is twice as large.
  pass.context.in_handlers = before + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
  return done;
}

Result<std::size_t> EffectRunner::run_batch(Pass& pass, std::span<Work* const> works) {
  if (pass.one_by_one) return run_each(pass, works);
  std::vector<store::EffectTransaction::Entry> entries;
  entries.reserve(works.size());
  for (const Work* work : works) entries.push_back(entry_of(*work));
  SLUICE_TRY(const auto entered, pass.transaction->enter(pass.handler.name(), entries));
  std::vector<Work*> fresh;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (entered[i] == Entered::fresh) {
      fresh.push_back(works[i]);
    } else {
      const bool fenced = entered[i] == Entered::fenced;
      pass.results.push_back({works[i], Outcome::handled(), {}, !fenced, fenced});
    }
  }
  if (fresh.empty()) return works.size();
  HandlerTransaction transaction{*pass.transaction};
  const auto& batch = std::get<EventHandler::BatchOnce>(pass.handler.handler.shape());
  RunResult ran = guarded_run(pass.handler, fresh, pass.context, [&](const Delivery& delivery) {
    batch(envelopes(fresh), transaction, delivery);
    return std::vector<Outcome>(fresh.size(), Outcome::handled());
  });
  if (ran.outcomes.front().kind != Outcome::Kind::handled) {
    // Undone as one; once more, each event for itself.
    pass.one_by_one = true;
    pass.results.clear();
    return std::size_t{0};
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    pass.results.push_back({fresh[i], Outcome::handled(), ran.time, false, false, ran.take(i).traceparent});
  }
  return works.size();
}

Result<void> EffectRunner::settle(Pass& pass) {
  const auto registry = registry_.current();
  RouteMemo routes{*registry};
  std::vector<store::SettleItem> items;
  for (const Pass::Result& result : pass.results) {
    if (result.fenced || !pass.last(*result.work)) continue;
    Work work = *result.work;
    if (result.deduplicated) {
      work.handled_before.insert(pass.handler.name());
      work.notes.push_back({pass.handler.name(), Outcome::handled(), {}, true});
    } else {
      if (result.outcome.kind == Outcome::Kind::handled) work.recorded.insert(pass.handler.name());
      work.note(pass.handler, {result.outcome, result.time, result.traceparent}, options_.uniform01());
    }
    decide_work(work, {*registry, routes, handlers_, options_.attempts});
    items.push_back(work.decision);
    pass.decided.push_back(std::move(work));
  }
  const auto span = trace_settle(pass.decided.empty() ? nullptr : options_.tracer, pass.decided);
  SLUICE_TRY(auto settled, pass.transaction->settle(items, registry->version));
  pass.report = std::move(settled);
  return {};
}

}  // namespace sluice::runtime
