#include "runtime/alert_post.hpp"

#include <algorithm>
#include <utility>

#include "host/entropy.hpp"

namespace sluice::runtime {

AlertClocks AlertClocks::system() {
  return {[] { return std::chrono::steady_clock::now(); }, host::wall_clock};
}

AlertPost::AlertPost(std::unique_ptr<alert::AlertChannel> channel, telemetry::Logger logger, AlertPostOptions options)
    : channel_(std::move(channel)),
      logger_(std::move(logger)),
      options_(std::move(options)),
      backoff_(options_.backoff) {
  status_.name = channel_->name();
}

void AlertPost::add(Alert alert) {
  const std::lock_guard lock{mutex_};
  if (queue_.size() >= options_.queue_limit) {
    ++status_.dropped;
    return;
  }
  queue_.push_back(std::move(alert));
}

bool AlertPost::empty() const {
  const std::lock_guard lock{mutex_};
  return queue_.empty();
}

std::optional<Alert> AlertPost::first() const {
  const std::lock_guard lock{mutex_};
  return queue_.empty() ? std::nullopt : std::optional{queue_.front()};
}

AlertChannelStatus AlertPost::status() const {
  const std::lock_guard lock{mutex_};
  AlertChannelStatus status = status_;
  status.queued = static_cast<std::int64_t>(queue_.size());
  return status;
}

std::optional<Duration> AlertPost::step(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    // It stays in the queue while it is sent, so that only this thread takes it out.
    const auto alert = first();
    if (!alert) return std::nullopt;
    const TimePoint now = options_.clocks.steady();
    if (now < not_before_) return std::chrono::ceil<Duration>(not_before_ - now);
    const auto sent = channel_->send(*alert, stop);
    // What a stop has cut short says nothing about the receiver.
    if (!sent && stop.stop_requested()) break;
    if (!sent) {
      refused(sent.error());
      continue;
    }
    if (sent->accepted) taken();
    if (!sent->accepted)
      refused({ErrorCode::unavailable, Retry::safe, "the receiver answered " + sent->answer, "", ""});
    if (sent->retry_after) hush(*sent->retry_after);
  }
  return std::nullopt;
}

void AlertPost::taken() {
  {
    const std::lock_guard lock{mutex_};
    queue_.pop_front();
    ++status_.sent;
  }
  attempts_ = 0;
  backoff_.reset();
  if (std::exchange(complained_, std::nullopt)) {
    logger_.info("alerts go out again", {{"channel", channel_->name()}, {"receiver", channel_->display()}});
  }
}

void AlertPost::refused(const Error& error) {
  const bool given_up = error.retry == Retry::never || ++attempts_ >= options_.attempts;
  {
    const std::lock_guard lock{mutex_};
    ++status_.failed;
    status_.last_error = error.message;
    status_.last_error_at = options_.clocks.wall();
    if (given_up) {
      queue_.pop_front();
      ++status_.dropped;
    }
  }
  if (given_up) attempts_ = 0;
  if (error.retry != Retry::never) hush(backoff_.next());
  complain(error, given_up);
}

void AlertPost::hush(Duration silence) { not_before_ = std::max(not_before_, options_.clocks.steady() + silence); }

// A receiver that is away is one line a minute, not one per alert.
void AlertPost::complain(const Error& error, bool given_up) {
  const TimePoint now = options_.clocks.steady();
  if (complained_ && now < *complained_ + options_.log_interval) return;
  complained_ = now;
  const AlertChannelStatus counts = status();
  logger_.error("an alert could not be sent", {{"channel", channel_->name()},
                                               {"receiver", channel_->display()},
                                               {"error", error.message},
                                               {"given_up", given_up},
                                               {"queued", counts.queued},
                                               {"dropped", counts.dropped}});
}

void AlertPost::give_up() {
  std::size_t left = 0;
  {
    const std::lock_guard lock{mutex_};
    left = queue_.size();
    status_.dropped += static_cast<std::int64_t>(left);
    queue_.clear();
  }
  if (left == 0) return;
  logger_.error(
      "alerts were dropped at the stop",
      {{"channel", channel_->name()}, {"receiver", channel_->display()}, {"dropped", static_cast<std::int64_t>(left)}});
}

}  // namespace sluice::runtime
