#include "core/decide.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/subscription.hpp"
#include "core/utf8.hpp"

namespace sluice {
namespace {

const HandlerRun* run_of(const EventAttempt& attempt, std::string_view handler) {
  for (const HandlerRun& run : attempt.runs) {
    if (run.handler_name == handler) return &run;
  }
  return nullptr;
}

HandlerProgress before(const EventAttempt& attempt, std::string_view handler) {
  for (const HandlerProgress& one : attempt.progress) {
    if (one.handler_name == handler) return one;
  }
  HandlerProgress fresh;
  fresh.handler_name = handler;
  fresh.due = attempt.now;
  // Until now it was the only handler, so the row's count is its own.
  if (attempt.progress.empty() && run_of(attempt, handler) != nullptr) fresh.attempts = attempt.attempts;
  return fresh;
}

HandlerProgress after(HandlerProgress progress, const HandlerRun& run, Timestamp now) {
  const Settlement own = settle(progress.attempts, run.outcome, run.policy, run.uniform01);
  progress.due = own.not_before.value_or(now + own.delay);
  progress.out_of_attempts = own.next == Status::failed;
  if (!own.counts_attempt) return progress;
  ++progress.attempts;
  progress.last_error = own.last_error;
  progress.error_class = own.error_class;
  progress.fingerprint = own.fingerprint;
  return progress;
}

void record(Settlement& settlement, const HandlerProgress& failure) {
  // Counted on the row before the event had several handlers: what stands there is its error.
  if (failure.last_error.empty()) return;
  settlement.records_error = true;
  settlement.last_error = failure.last_error;
  settlement.error_class = failure.error_class;
  settlement.fingerprint = failure.fingerprint;
}

// The scope that all of them share, if none is hosted here: only workers of that scope need to look.
std::string lane_of(const std::vector<HandlerProgress>& left, const HandlerNames& hosted) {
  std::optional<std::string_view> lane;
  for (const HandlerProgress& one : left) {
    if (one.out_of_attempts) continue;
    const std::string_view scope = scope_of(one.handler_name);
    if (hosted.contains(one.handler_name) || (lane && *lane != scope)) return {};
    lane = scope;
  }
  return std::string{lane.value_or("")};
}

bool is_out_of_attempts(const HandlerProgress& one) { return one.out_of_attempts && !one.aside; }
bool has_failed_aside(const HandlerProgress& one) { return one.aside && one.attempts > 0; }

// Once nobody else is left: whoever failed before the replay went to another is what the event fails for again.
bool only_aside(const std::vector<HandlerProgress>& left) {
  return std::all_of(left.begin(), left.end(), [](const auto& one) { return one.aside; });
}

Settlement fail_event(const std::vector<HandlerProgress>& left) {
  Settlement settlement;
  settlement.next = Status::failed;
  settlement.cause = Cause::fail;
  const auto spent = std::find_if(left.begin(), left.end(), is_out_of_attempts);
  const auto aside = std::find_if(left.begin(), left.end(), has_failed_aside);
  record(settlement, spent != left.end() ? *spent : *aside);
  return settlement;
}

// Pending until the first of them is due.
Settlement wait_until_due(const std::vector<HandlerProgress>& left) {
  Settlement settlement;
  settlement.next = Status::pending;
  settlement.cause = Cause::release;
  for (const HandlerProgress& one : left) {
    if (one.out_of_attempts) continue;
    if (!settlement.not_before || one.due < *settlement.not_before) settlement.not_before = one.due;
  }
  return settlement;
}

Settlement wait_for(const std::vector<HandlerProgress>& left, const EventAttempt& attempt) {
  Settlement settlement = wait_until_due(left);
  for (const HandlerProgress& one : left) {
    const HandlerRun* run = run_of(attempt, one.handler_name);
    if (run == nullptr || run->outcome.kind != Outcome::Kind::failed) continue;
    settlement.cause = Cause::retry;
    record(settlement, one);
    break;
  }
  settlement.lane = lane_of(left, attempt.hosted);
  return settlement;
}

Decision decide_several(const EventAttempt& attempt, Decision decision, const std::vector<std::string_view>& open) {
  std::vector<HandlerProgress> left;
  bool somebody_untried = false;
  bool somebody_out_of_attempts = false;
  int most_attempts = 0;
  for (const std::string_view handler : open) {
    HandlerProgress progress = before(attempt, handler);
    const HandlerRun* run = run_of(attempt, handler);
    if (run != nullptr) progress = after(std::move(progress), *run, attempt.now);
    somebody_untried = somebody_untried || (run == nullptr && progress.attempts == 0 && !progress.aside &&
                                            attempt.served.contains(handler));
    somebody_out_of_attempts = somebody_out_of_attempts || is_out_of_attempts(progress);
    if (!progress.aside) most_attempts = std::max(most_attempts, progress.attempts);
    left.push_back(std::move(progress));
  }
  const bool last = only_aside(left);
  if (last && std::none_of(left.begin(), left.end(), has_failed_aside)) return decision;
  const bool failed = last || (somebody_out_of_attempts && !somebody_untried);
  decision.settlement = failed ? fail_event(left) : wait_for(left, attempt);
  decision.settlement.counts_attempt = most_attempts > attempt.attempts;
  decision.settlement.progress = std::move(left);
  return decision;
}

constexpr std::string_view kThenExpired = "; then the claim expired";

// The error that was there before, with the expiry added once; without one there is nothing but the expiry.
void add_expiry(Settlement& settlement, std::string_view last_error, std::string_view class_before,
                std::string_view print) {
  if (last_error.empty() || class_before == error_class::claim_expired) return;
  if (last_error.ends_with(kThenExpired)) last_error.remove_suffix(kThenExpired.size());
  settlement.last_error = utf8::prefix(last_error, kLastErrorMaxBytes - kThenExpired.size());
  settlement.last_error += kThenExpired;
  settlement.error_class = class_before;
  settlement.fingerprint = print;
}

// Which of them may have run under the claim. At least one, if any is left: an event that kills every worker must not
// go round for ever.
std::vector<HandlerProgress*> suspects(std::vector<HandlerProgress>& left, const ExpiredAttempt& attempt) {
  const auto among = [&](auto&& may) {
    std::vector<HandlerProgress*> found;
    for (HandlerProgress& one : left) {
      if (!one.out_of_attempts && may(one)) found.push_back(&one);
    }
    return found;
  };
  const auto here = [&](const HandlerProgress& one) {
    return attempt.hosted.empty() || attempt.hosted.contains(one.handler_name);
  };
  auto found = among([&](const HandlerProgress& one) { return here(one) && one.due <= attempt.claimed_at; });
  if (found.empty()) found = among(here);
  return found.empty() ? among([](const HandlerProgress&) { return true; }) : found;
}

void count_expiry(HandlerProgress& one, const ExpiredAttempt& attempt, const PolicyOf& policy_of) {
  Settlement own = settle(one.attempts, Outcome::expired(), policy_of(one.handler_name), attempt.uniform01);
  add_expiry(own, one.last_error, one.error_class, one.fingerprint);
  one.due = attempt.now + own.delay;
  one.out_of_attempts = own.next == Status::failed;
  one.attempts += own.counts_attempt ? 1 : 0;
  one.last_error = std::move(own.last_error);
  one.error_class = std::move(own.error_class);
  one.fingerprint = std::move(own.fingerprint);
}

Settlement expire_several(const ExpiredAttempt& attempt, const PolicyOf& policy_of) {
  std::vector<HandlerProgress> left{attempt.progress.begin(), attempt.progress.end()};
  std::string counted;
  for (HandlerProgress* one : suspects(left, attempt)) {
    count_expiry(*one, attempt, policy_of);
    if (counted.empty()) counted = one->handler_name;
  }
  const auto any = [&](auto&& is) { return std::any_of(left.begin(), left.end(), is); };
  const bool untried = any([&](const HandlerProgress& one) {
    return one.attempts == 0 && !one.out_of_attempts && attempt.served.contains(one.handler_name);
  });
  const bool out_of_attempts = any(is_out_of_attempts);
  Settlement settlement = out_of_attempts && !untried ? fail_event(left) : wait_until_due(left);
  if (settlement.next == Status::pending) {
    settlement.cause = Cause::expire;
    for (const HandlerProgress& one : left) {
      if (one.handler_name == counted) record(settlement, one);
    }
    // The row goes on telling of the failure that was there before.
    add_expiry(settlement, attempt.last_error, attempt.error_class, attempt.fingerprint);
    settlement.lane = lane_of(left, {});
  }
  settlement.counts_attempt =
      any([&](const HandlerProgress& one) { return !one.aside && one.attempts > attempt.attempts; });
  settlement.progress = std::move(left);
  return settlement;
}

// Handlers that want the event and are hosted elsewhere: the lost worker has not run them, so from now on each is
// counted by itself. Empty: there are none, or it is not known what the worker hosted.
std::vector<HandlerProgress> apart(const ExpiredAttempt& attempt) {
  const auto here = [&](const std::string& handler) { return attempt.hosted.contains(handler); };
  const auto& wanted = attempt.wanted;
  std::vector<HandlerProgress> each;
  if (std::none_of(wanted.begin(), wanted.end(), here) || std::all_of(wanted.begin(), wanted.end(), here)) return each;
  for (const std::string& handler : wanted) {
    HandlerProgress one;
    one.handler_name = handler;
    one.due = attempt.claimed_at;
    if (here(handler)) one.attempts = attempt.attempts;
    each.push_back(std::move(one));
  }
  return each;
}

}  // namespace

Settlement expire(const ExpiredAttempt& attempt, const RetryPolicy& policy, const PolicyOf& policy_of) {
  if (!attempt.progress.empty()) return expire_several(attempt, policy_of);
  if (const std::vector<HandlerProgress> each = apart(attempt); !each.empty()) {
    ExpiredAttempt several = attempt;
    several.progress = each;
    return expire_several(several, policy_of);
  }
  Settlement settlement = settle(attempt.attempts, Outcome::expired(), policy, attempt.uniform01);
  add_expiry(settlement, attempt.last_error, attempt.error_class, attempt.fingerprint);
  return settlement;
}

Decision decide(const EventAttempt& attempt) {
  Decision decision;
  std::vector<std::string_view> open;
  for (const std::string_view handler : attempt.open) {
    const HandlerRun* run = run_of(attempt, handler);
    const bool handled = run != nullptr && run->outcome.kind == Outcome::Kind::handled;
    (handled ? decision.handled_by : open).push_back(handler);
  }
  if (open.empty()) return decision;
  const HandlerRun* only =
      attempt.open.size() == 1 && attempt.progress.empty() ? run_of(attempt, open.front()) : nullptr;
  if (only == nullptr) return decide_several(attempt, std::move(decision), open);
  decision.settlement = settle(attempt.attempts, only->outcome, only->policy, only->uniform01);
  return decision;
}

}  // namespace sluice
