#include "core/attempt.hpp"

#include <algorithm>

#include "core/json_object.hpp"
#include "core/utf8.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTraceparentBytes = 55;
constexpr std::size_t kTraceIdAt = 3;
constexpr std::size_t kTraceIdBytes = 32;

std::optional<AttemptOutcome> kept_as(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::handled:
      return AttemptOutcome::handled;
    case Outcome::Kind::failed:
      return AttemptOutcome::failed;
    case Outcome::Kind::expired:
      return AttemptOutcome::expired;
    case Outcome::Kind::deferred:
    case Outcome::Kind::released:
      break;
  }
  return std::nullopt;
}

}  // namespace

AttemptOutcome attempt_outcome(std::string_view text) {
  const auto found = std::find(kAttemptOutcomes.begin(), kAttemptOutcomes.end(), text);
  return found == kAttemptOutcomes.end() ? AttemptOutcome::failed
                                         : static_cast<AttemptOutcome>(found - kAttemptOutcomes.begin());
}

std::optional<Attempt> attempt_of(const Outcome& outcome) {
  const auto kept = kept_as(outcome.kind);
  if (!kept) return std::nullopt;
  Attempt attempt;
  attempt.outcome = *kept;
  attempt.status_code = outcome.response.status_code;
  attempt.response = utf8::prefix(outcome.response.excerpt, kAttemptResponseMaxBytes);
  if (kept == AttemptOutcome::expired) attempt.error = expiry_failure().last_error();
  if (kept == AttemptOutcome::failed) {
    attempt.error = utf8::prefix(outcome.failure.last_error(), kAttemptErrorMaxBytes);
  }
  return attempt;
}

std::string trace_id_of(std::string_view traceparent) {
  return traceparent.size() == kTraceparentBytes ? std::string{traceparent.substr(kTraceIdAt, kTraceIdBytes)}
                                                 : std::string{};
}

void AttemptList::add(const Uuid& event_id, std::int64_t claim_seq, const Attempt& attempt) {
  elements_.push_back(JsonObject{}
                          .uuid("event_id", event_id)
                          .number("claim_seq", claim_seq)
                          .text("handler_name", attempt.handler_name)
                          .text("worker", attempt.worker)
                          .time("started_at", attempt.started_at)
                          .number("duration_us", attempt.took.count())
                          .text("outcome", name(attempt.outcome))
                          .number("status_code", attempt.status_code)
                          .text("error", attempt.error)
                          .text("response", attempt.response)
                          .text("trace_id", attempt.trace_id)
                          .str());
}

std::string AttemptList::json() const { return json_array(elements_); }

}  // namespace sluice
