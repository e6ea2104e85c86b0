#include "runtime/patrol.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

constexpr int kRestPerWork = 50;
constexpr int kRowsPerSecond = 10'000;
// Beyond the longest rest, so that a step that is a little late finds the patrol still its own.
constexpr Duration kLeaseBeyondRest = std::chrono::seconds{10};
constexpr std::size_t kToldOneByOne = 10;

const char* what_was_done(store::StrandedCause cause) {
  switch (cause) {
    case store::StrandedCause::passed_over:
      return "no claim looked where it is; made due";
    case store::StrandedCause::no_claim:
      return "in flight without a claim; expired";
    case store::StrandedCause::blocker_gone:
      return "nothing of its ordering key was in its way; released";
  }
  return "";
}

Result<void> check_beat(Duration duration, const char* field) {
  if (duration > Duration::zero()) return {};
  return invalid(field, std::string{field} + " must be longer than zero");
}

}  // namespace

Result<void> PatrolOptions::validate() const {
  SLUICE_CHECK(check_beat(interval, "patrol.interval"));
  SLUICE_CHECK(check_beat(settled_again, "patrol.settled_again"));
  SLUICE_CHECK(check_beat(overlooked_after, "patrol.overlooked_after"));
  if (rows < 1) return invalid("patrol.rows", "patrol.rows must be at least 1");
  return {};
}

Duration patrol_rest(const PatrolPace& pace, const PatrolOptions& options) {
  if (!pace.held) return options.interval;
  const Duration paid = kRestPerWork * pace.took;
  if (pace.round_over) return std::max(paid, options.interval - std::max(pace.round_began, Duration::zero()));
  const Duration bounded = Duration{std::chrono::seconds{1}} * options.rows / kRowsPerSecond;
  // A short beat is asked for by tests, and is not to be held up by a rate that they do not reach.
  return std::max(paid, std::min(bounded, options.interval));
}

Patrol::Patrol(store::Maintaining& store, std::string holder, telemetry::Logger logger, telemetry::MetricSet* metrics,
               PatrolOptions options)
    : store_(store),
      holder_(std::move(holder)),
      logger_(std::move(logger)),
      metrics_(metrics),
      options_(std::move(options)) {
  if (!options_.clock) options_.clock = [] { return std::chrono::steady_clock::now(); };
  round_began_ = options_.clock();
}

store::PatrolRequest Patrol::request(Duration lease) const {
  return {holder_, lease, options_.overlooked_after, options_.settled_again, options_.rows};
}

Result<Patrol::Report> Patrol::step() {
  const auto begun = options_.clock();
  SLUICE_TRY(const auto step, store_.patrol(request(2 * std::max(options_.interval, rest_) + kLeaseBeyondRest)));
  const auto ended = options_.clock();
  const auto since = [&](auto from) { return std::chrono::duration_cast<Duration>(ended - from); };
  held_ = step.held;
  tell(step.healed);
  rest_ = patrol_rest({since(begun), since(round_began_), step.held, step.round_over}, options_);
  if (!step.held || step.round_over) round_began_ = ended + rest_;
  return Report{rest_, step.healed.size()};
}

void Patrol::hand_on() {
  if (!std::exchange(held_, false)) return;
  // When it fails, the lease runs out by itself.
  if (const auto step = store_.patrol(request(Duration::zero()))) tell(step->healed);
}

void Patrol::tell(const std::vector<store::PatrolStep::Healed>& healed) const {
  for (std::size_t at = 0; at < healed.size(); ++at) {
    const auto& [id, cause] = healed[at];
    if (metrics_ != nullptr) metrics_->delivery.stranded.with({std::string{name(cause)}}).add();
    if (at >= kToldOneByOne) continue;
    logger_.error("stranded event healed",
                  {{"event_id", id.to_string()}, {"cause", name(cause)}, {"what", what_was_done(cause)}});
  }
  if (healed.size() > kToldOneByOne) {
    logger_.error("more stranded events healed", {{"events", healed.size() - kToldOneByOne}});
  }
}

}  // namespace sluice::runtime
