#include "runtime/alerts.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "runtime/service.hpp"

namespace sluice::runtime {
namespace {

// Without anything to wait for; a wake cuts it short.
constexpr Duration kLongRest = std::chrono::hours{1};

}  // namespace

Alerts::Alerts(std::vector<std::unique_ptr<alert::AlertChannel>> channels, store::Observing& store,
               telemetry::Logger logger, AlertsOptions options)
    : store_(store), logger_(std::move(logger)), options_(std::move(options)), throttle_(options_.throttle) {
  assert(options_.random);
  for (auto& channel : channels) {
    posts_.push_back(std::make_unique<AlertPost>(std::move(channel), logger_, options_.post));
  }
}

Alerts::~Alerts() { stop(); }

void Alerts::start() {
  posting_ = static_cast<int>(posts_.size());
  for (const auto& post : posts_) posters_.emplace_back([this, &post = *post] { run_post(post); });
  throttler_ = std::jthread{[this](const std::stop_token& stop) { run_throttle(stop); }};
}

void Alerts::offer(FailureNotice notice) {
  if (!notice.failed_at) notice.failed_at = options_.post.clocks.wall();
  {
    const std::lock_guard lock{mutex_};
    if (queue_.size() >= options_.queue_limit) {
      ++dropped_;
      return;
    }
    queue_.push_back(std::move(notice));
  }
  offered_.wake_all();
}

std::vector<FailureNotice> Alerts::take() {
  const std::lock_guard lock{mutex_};
  return std::exchange(queue_, {});
}

std::optional<Duration> Alerts::step() {
  const auto now = options_.post.clocks.steady();
  for (AlertThrottle::Passed& passed : throttle_.close(now)) pass_on(std::move(passed));
  for (FailureNotice& notice : take()) {
    if (auto passed = throttle_.offer(std::move(notice), now)) pass_on(*std::move(passed));
  }
  {
    const std::lock_guard lock{mutex_};
    suppressed_ = throttle_.held_back();
  }
  const auto next = throttle_.next_close();
  if (!next) return std::nullopt;
  return std::max(std::chrono::ceil<Duration>(*next - now), Duration::zero());
}

void Alerts::pass_on(AlertThrottle::Passed passed) {
  Alert alert;
  alert.alert_id = ids_.next(options_.post.clocks.wall(), options_.random());
  alert.failure = std::move(passed.failure);
  alert.suppressed = passed.suppressed;
  if (alert.failure.event_type.empty()) look_up(alert.failure);
  for (const auto& post : posts_) post->add(alert);
  passed_.wake_all();
}

// What cannot be looked up is left out: an alert with little in it is better than none.
void Alerts::look_up(FailureNotice& notice) {
  const auto found = store_.get_event(notice.event_id);
  if (!found) {
    log_error(logger_, "an alert goes out without the event's details", found.error());
    return;
  }
  const EventEnvelope& envelope = found->envelope;
  notice.event_type = envelope.event_type();
  notice.source = envelope.source();
  notice.target = envelope.target();
  notice.workspace_id = envelope.workspace_id();
  notice.trace_context = envelope.trace_context();
  notice.generation = found->generation;
}

void Alerts::run_throttle(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t seen = offered_.count();
    offered_.rest(stop, step().value_or(kLongRest), seen);
  }
  step();
  for (AlertThrottle::Passed& passed : throttle_.close_all()) pass_on(std::move(passed));
}

void Alerts::run_post(AlertPost& post) {
  const std::stop_token abandon = abandon_.get_token();
  while (!abandon.stop_requested()) {
    const std::uint64_t seen = passed_.count();
    const bool last = [this] {
      const std::lock_guard lock{mutex_};
      return finishing_;
    }();
    const Duration rest = post.step(abandon).value_or(kLongRest);
    if (last && (post.empty() || rest > options_.last_moment)) break;
    passed_.rest(abandon, rest, seen);
  }
  post.give_up();
  const std::lock_guard lock{mutex_};
  --posting_;
  ended_.notify_all();
}

void Alerts::stop() {
  if (!throttler_.joinable()) return;
  throttler_.request_stop();
  throttler_.join();
  {
    std::unique_lock lock{mutex_};
    finishing_ = true;
    passed_.wake_all();
    ended_.wait_for(lock, options_.last_moment, [this] { return posting_ == 0; });
  }
  abandon_.request_stop();
  posters_.clear();
}

AlertStatus Alerts::status() const {
  AlertStatus status;
  for (const auto& post : posts_) status.channels.push_back(post->status());
  const std::lock_guard lock{mutex_};
  status.queued = static_cast<std::int64_t>(queue_.size());
  status.dropped = dropped_;
  status.suppressed = suppressed_;
  return status;
}

}  // namespace sluice::runtime
