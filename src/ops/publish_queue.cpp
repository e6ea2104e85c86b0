#include "ops/publish_queue.hpp"

#include <iterator>
#include <utility>

#include "core/try.hpp"

namespace sluice::ops {
namespace {

std::size_t bytes_of(const std::vector<store::NewEvent>& events) {
  std::size_t bytes = 0;
  for (const store::NewEvent& event : events) bytes += event.envelope.payload().size();
  return bytes;
}

}  // namespace

PublishQueue::PublishQueue(store::Publishing& store, PublishQueueOptions options)
    : store_(store), options_(std::move(options)) {}

PublishQueue::~PublishQueue() { stop(); }

void PublishQueue::start() {
  thread_ = std::thread{[this] { run(); }};
}

void PublishQueue::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  waiting_.notify_all();
  if (thread_.joinable()) thread_.join();
  while (step()) {
  }
}

// One that finds the queue empty is always let in: it could never be stored otherwise.
std::optional<Error> PublishQueue::refusal(std::size_t events, std::size_t bytes) const {
  if (stopped_) return Error{ErrorCode::unavailable, Retry::safe, "the server is stopping", {}, "try another one"};
  const bool full = queued_events_ + events > options_.max_events || queued_bytes_ + bytes > options_.max_bytes;
  if (!full || queue_.empty()) return std::nullopt;
  return Error{ErrorCode::exhausted,
               Retry::safe,
               "more events are waiting to be stored than there is room for",
               {},
               "try again in a moment"};
}

void PublishQueue::submit(std::vector<store::NewEvent> events, Done done) {
  Submission submission{std::move(events), std::move(done)};
  if (auto refused = take_in(submission)) return submission.done(submission.events, *std::move(refused));
  waiting_.notify_one();
}

std::optional<Error> PublishQueue::take_in(Submission& submission) {
  const std::size_t bytes = bytes_of(submission.events);
  const std::lock_guard lock{mutex_};
  if (auto refused = refusal(submission.events.size(), bytes)) return refused;
  queued_events_ += submission.events.size();
  queued_bytes_ += bytes;
  queue_.push_back(std::move(submission));
  return std::nullopt;
}

std::vector<PublishQueue::Submission> PublishQueue::take() {
  std::vector<Submission> taken;
  std::size_t events = 0;
  const std::lock_guard lock{mutex_};
  while (!queue_.empty()) {
    Submission& next = queue_.front();
    if (!taken.empty() && events + next.events.size() > options_.batch_events) break;
    events += next.events.size();
    queued_bytes_ -= bytes_of(next.events);
    taken.push_back(std::move(next));
    queue_.pop_front();
  }
  queued_events_ -= events;
  return taken;
}

std::optional<Error> PublishQueue::complaint(std::span<const store::NewEvent> events) const {
  if (!options_.check) return std::nullopt;
  for (const store::NewEvent& event : events) {
    SLUICE_CHECK(options_.check(event));
  }
  return std::nullopt;
}

bool PublishQueue::step() {
  std::vector<Submission> taken = take();
  if (taken.empty()) return false;
  std::vector<store::NewEvent> events;
  std::vector<Part> parts;
  parts.reserve(taken.size());
  for (Submission& submission : taken) {
    if (auto refused = complaint(submission.events)) {
      submission.done(submission.events, *std::move(refused));
      continue;
    }
    parts.push_back({events.size(), submission.events.size(), std::move(submission.done)});
    if (events.empty()) {
      events = std::move(submission.events);
    } else {
      std::move(submission.events.begin(), submission.events.end(), std::back_inserter(events));
    }
  }
  if (!parts.empty()) publish(events, parts);
  return true;
}

PublishQueue::Outcomes PublishQueue::attempt(std::span<const store::NewEvent> events) {
  if (options_.storing) options_.storing(events);
  Outcomes outcomes = store_.publish(events);
  if (options_.stored) options_.stored(events, outcomes || outcomes.error().retry == Retry::in_doubt);
  return outcomes;
}

void PublishQueue::publish(std::span<const store::NewEvent> all, std::span<const Part> parts) {
  const Outcomes together = attempt(all);
  // A refusal may be about one of them: each is asked about again for itself.
  const bool apart = !together && together.error().retry == Retry::never && parts.size() > 1;
  for (const Part& part : parts) {
    const auto own = all.subspan(part.begin, part.count);
    if (apart) {
      part.done(own, attempt(own));
    } else if (together) {
      const auto first = together->begin() + static_cast<std::ptrdiff_t>(part.begin);
      part.done(own, std::vector(first, first + static_cast<std::ptrdiff_t>(part.count)));
    } else {
      part.done(own, together.error());
    }
  }
}

void PublishQueue::run() {
  for (;;) {
    {
      std::unique_lock lock{mutex_};
      waiting_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (stopped_ && queue_.empty()) return;
    }
    step();
  }
}

}  // namespace sluice::ops
