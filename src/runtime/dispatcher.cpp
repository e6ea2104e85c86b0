#include "runtime/dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

bool is_each(const RegisteredHandler& handler) {
  return std::holds_alternative<EventHandler::Each>(handler.handler.shape());
}
bool is_once(const RegisteredHandler& handler) {
  return std::holds_alternative<EventHandler::EachOnce>(handler.handler.shape()) ||
         std::holds_alternative<EventHandler::BatchOnce>(handler.handler.shape());
}

bool is_due(const Work& work, std::string_view handler) {
  for (const HandlerProgress& progress : work.event.progress) {
    if (progress.handler_name == handler) return !progress.out_of_attempts && progress.due <= work.store_now();
  }
  return true;
}

// A handler that has had all its attempts, the last of them by a claim that expired or under a more patient policy,
// does not run again. Until an event has failed with several handlers, the row's count is that of each.
void close_out_of_attempts(Work& work, const std::vector<const RegisteredHandler*>& open) {
  auto& all = work.event.progress;
  const auto is_out = [&](const RegisteredHandler* handler) {
    return work.event.attempts >= handler->retry.max_attempts;
  };
  if (all.empty() && std::any_of(open.begin(), open.end(), is_out)) {
    for (const RegisteredHandler* handler : open) {
      all.push_back({handler->name(), work.event.attempts, work.event.claimed_at, is_out(handler), {}, {}, {}});
    }
  }
  for (HandlerProgress& one : all) {
    const auto own =
        std::find_if(open.begin(), open.end(), [&](const auto* each) { return each->name() == one.handler_name; });
    if (own != open.end() && one.attempts >= (*own)->retry.max_attempts) one.out_of_attempts = true;
  }
}

std::vector<store::ClaimRef> claims_of(const std::vector<store::ClaimedEvent>& events) {
  std::vector<store::ClaimRef> claims;
  claims.reserve(events.size());
  for (const store::ClaimedEvent& event : events) claims.push_back(event.claim);
  return claims;
}

}  // namespace

/// One claimed batch under way.
struct Dispatcher::Batch {
  std::vector<Work> works;
  std::unique_ptr<ClaimKeeper::Hold> hold;
  RunContext context;
  const std::stop_token& abandon;
  StepReport report;
  std::chrono::steady_clock::time_point settled_at;
  std::vector<bool> finished;
};

Dispatcher::Dispatcher(const DispatchEnvironment& environment, const telemetry::Logger& logger,
                       DispatcherOptions options)
    : environment_(environment),
      options_(std::move(options)),
      settler_(environment.store, environment.registry, environment.handlers,
               logger.with_generation(options_.generation),
               {options_.settle_attempts,
                environment.on_failed,
                environment.metrics,
                {},
                options_.attempts,
                environment.tracer,
                environment.history}),
      effects_(environment.store, environment.registry, environment.handlers,
               {.uniform01 = options_.uniform01,
                .at = options_.at,
                .longest_idle = options_.ttl,
                .attempts = options_.attempts,
                .tracer = environment.tracer}) {}

Result<std::vector<Work>> Dispatcher::plan(std::vector<store::ClaimedEvent> events, ClaimKeeper::TimePoint claimed) {
  const auto registry = environment_.registry.current();
  RouteMemo routes{*registry};
  std::vector<Work> works;
  std::vector<HandlerList> subscribed;
  works.reserve(events.size());
  subscribed.reserve(events.size());
  for (store::ClaimedEvent& event : events) {
    works.emplace_back(std::move(event), claimed);
    subscribed.emplace_back(routes.matching(works.back().route()));
  }
  auto found = find_handled(works, subscribed);
  if (found) found = find_replays(environment_.store, works);
  if (!found) {
    // Without knowing what was handled already nothing may run: the events go back uncounted.
    for (Work& work : works) {
      work.release = true;
      settler_.add(std::move(work));
    }
    SLUICE_CHECK(settler_.settle());
    return std::move(found).error();
  }
  std::vector<const RegisteredHandler*> open;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (works[i].event.unreadable) {
      works[i].notes.push_back({{}, unreadable_outcome(works[i].event), {claimed, {}}, false});
      continue;
    }
    open.clear();
    for (const std::string& name : subscribed[i]) {
      const RegisteredHandler* handler = environment_.handlers.find(name);
      if (handler == nullptr) continue;
      if (works[i].handled_before.contains(name)) {
        works[i].notes.push_back({name, Outcome::handled(), {}, true});
      } else {
        open.push_back(handler);
      }
    }
    close_out_of_attempts(works[i], open);
    for (const RegisteredHandler* handler : open) {
      if (is_due(works[i], handler->name())) works[i].to_run.push_back(handler);
    }
  }
  return works;
}

// Dedup is looked up for every subscribed handler, hosted or not: "all have handled it" must be known. A
// handler that is alone with an event is spared when it is idempotent, or when its transaction will ask.
Result<void> Dispatcher::find_handled(std::vector<Work>& works, std::span<const HandlerList> subscribed) {
  std::vector<HandlerList> asked{subscribed.begin(), subscribed.end()};
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (subscribed[i].size() != 1 || !works[i].event.progress.empty()) continue;
    const RegisteredHandler* only = environment_.handlers.find(subscribed[i].front());
    const bool spared = only != nullptr && ((only->idempotent && !works[i].event.shared) || is_once(*only));
    if (spared) asked[i] = {};
  }
  return runtime::find_handled(environment_.store, works, asked);
}

Result<StepReport> Dispatcher::process(Claimed claimed, const std::stop_token& abandon) {
  if (options_.at) options_.at("claimed");
  in_handlers_ = {};
  auto hold = environment_.keeper.hold(claims_of(claimed.events), claimed.at);
  SLUICE_TRY(auto planned, plan(std::move(claimed.events), claimed.at));
  ClaimKeeper::Hold& held = *hold;
  Batch batch{std::move(planned),
              std::move(hold),
              {environment_.handlers, held, options_.generation, {environment_.tracer, claimed.span}, in_handlers_},
              abandon,
              {},
              std::chrono::steady_clock::now(),
              {}};
  batch.finished.resize(batch.works.size());

  run_each(batch);
  run_together(batch);
  auto once = run_once(batch);
  if (!once) give_back(batch);
  for (Work& work : batch.works) finish(batch, work);
  auto settled = settle_finished(batch);
  if (!once) return std::move(once).error();
  if (!settled) return std::move(settled).error();
  return batch.report;
}

void Dispatcher::run_each(Batch& batch) {
  for (Work& work : batch.works) {
    if (batch.abandon.stop_requested()) {
      work.release = true;
      work.to_run.clear();
      continue;
    }
    bool more = false;
    for (const RegisteredHandler* handler : work.to_run) {
      if (!is_each(*handler)) {
        more = true;
        continue;
      }
      Work* self = &work;
      RunResult ran = run_handler(*handler, std::span{&self, 1}, batch.context);
      work.note(*handler, ran.take(0), options_.uniform01());
    }
    if (more || work.to_run.empty()) continue;
    finish(batch, work);
    const bool overdue = std::chrono::steady_clock::now() - batch.settled_at >= options_.settle_interval;
    // Kept by the settler when it fails, and tried again with the next.
    if (overdue) static_cast<void>(settle_finished(batch).has_value());
  }
}

void Dispatcher::run_together(Batch& batch) {
  std::vector<std::pair<const RegisteredHandler*, std::vector<Work*>>> groups;
  for (Work& work : batch.works) {
    for (const RegisteredHandler* handler : work.to_run) {
      if (is_each(*handler) || is_once(*handler)) continue;
      auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.first == handler; });
      if (group == groups.end()) group = groups.insert(groups.end(), {handler, {}});
      group->second.push_back(&work);
    }
  }
  for (auto& [handler, works] : groups) {
    if (batch.abandon.stop_requested()) {
      for (Work* work : works) work->release = true;
      continue;
    }
    RunResult ran = run_handler(*handler, works, batch.context);
    for (std::size_t i = 0; i < works.size(); ++i) {
      works[i]->note(*handler, ran.take(i), options_.uniform01());
    }
  }
}

Result<void> Dispatcher::run_once(Batch& batch) {
  std::vector<const RegisteredHandler*> handlers;
  for (const Work& work : batch.works) {
    for (const RegisteredHandler* handler : work.to_run) {
      if (is_once(*handler) && std::find(handlers.begin(), handlers.end(), handler) == handlers.end()) {
        handlers.push_back(handler);
      }
    }
  }
  for (const RegisteredHandler* handler : handlers) {
    std::vector<Work*> works;
    for (std::size_t i = 0; i < batch.works.size(); ++i) {
      Work& work = batch.works[i];
      const bool wanted = std::find(work.to_run.begin(), work.to_run.end(), handler) != work.to_run.end();
      if (wanted && !batch.finished[i]) works.push_back(&work);
    }
    if (works.empty()) continue;
    if (batch.abandon.stop_requested()) {
      for (Work* work : works) work->release = true;
      continue;
    }
    // Its turn is the last one of the event when every other handler that was to run has run.
    const auto last = [&](const Work& work) {
      return std::all_of(work.to_run.begin(), work.to_run.end(), [&](const RegisteredHandler* other) {
        return other == handler || work.has_run(other->name());
      });
    };
    SLUICE_TRY(auto done, effects_.run(*handler, works, batch.context, last));
    std::vector<Work> settled;
    for (Work* work : done.settled) {
      batch.finished[static_cast<std::size_t>(work - batch.works.data())] = true;
      batch.hold->forget(work->event.claim.event_id);
      settled.push_back(*work);
    }
    batch.report += settler_.account(settled, done.report, done.in_doubt);
  }
  return {};
}

// What a failed transaction left undone goes back as it was.
void Dispatcher::give_back(Batch& batch) {
  for (Work& work : batch.works) work.release = true;
}

void Dispatcher::finish(Batch& batch, Work& work) {
  const auto index = static_cast<std::size_t>(&work - batch.works.data());
  if (batch.finished[index]) return;
  batch.finished[index] = true;
  batch.hold->forget(work.event.claim.event_id);
  settler_.add(std::move(work));
}

Result<void> Dispatcher::settle_finished(Batch& batch) {
  if (settler_.empty()) return {};
  batch.settled_at = std::chrono::steady_clock::now();
  if (options_.at) options_.at("before_settle");
  auto report = settler_.settle();
  if (!report) return std::move(report).error();
  if (options_.at) options_.at("settled");
  batch.report += *report;
  return {};
}

}  // namespace sluice::runtime
