#include "runtime/worker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/entropy.hpp"
#include "runtime/trace.hpp"

namespace sluice::runtime {

Result<void> WorkerOptions::validate() const {
  if (generation < kFirstGeneration) return invalid("generation", "generation must be at least 1");
  if (identity.empty()) return invalid("identity", "identity must not be empty");
  if (batch_min < 1) return invalid("batch_min", "batch_min must be at least 1");
  if (batch_max < batch_min) return invalid("batch_max", "batch_max must be at least batch_min");
  if (ttl <= Duration::zero()) return invalid("ttl", "ttl must be longer than zero");
  if (batch_time <= Duration::zero()) return invalid("batch_time", "batch_time must be longer than zero");
  if (!uniform01) return invalid("uniform01", "uniform01 must be set");
  if (settle_attempts < 1) return invalid("settle_attempts", "settle_attempts must be at least 1");
  return {};
}

Worker::Worker(const DispatchEnvironment& environment, const telemetry::Logger& logger, WorkerOptions options)
    : store_(environment.store),
      tracer_(environment.tracer),
      options_(std::move(options)),
      dispatcher_(environment, logger,
                  {.generation = options_.generation,
                   .uniform01 = options_.uniform01,
                   .ttl = options_.ttl,
                   .settle_attempts = options_.settle_attempts,
                   .at = options_.at,
                   .attempts = {options_.identity, options_.record_successes}}),
      observer_(environment.metrics),
      batch_size_(options_.batch_min) {
  request_.generation = options_.generation;
  request_.worker = options_.identity;
  request_.ttl = options_.ttl;
  request_.interests = environment.handlers.interests();
  request_.handlers.assign(environment.handlers.names().begin(), environment.handlers.names().end());
}

Result<StepReport> Worker::step(const std::stop_token& abandon, const std::function<void(bool full)>& busy) {
  auto earlier = dispatcher_.settle_rest();
  if (!earlier) return earlier;
  request_.limit = batch_size_;
  // Read before the claim, so that a deadline that counts from here is never late.
  const Timestamp began = tracer_ != nullptr ? host::wall_clock() : Timestamp{};
  const auto claimed_at = std::chrono::steady_clock::now();
  auto events = store_.claim(request_);
  if (!events) {
    observer_.refused();
    return std::move(events).error();
  }
  claim_took_ = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - claimed_at);
  observer_.claimed(events->size(), request_.limit, claim_took_);
  if (events->empty()) {
    adapt(0, {});
    return earlier;
  }
  const std::size_t count = events->size();
  if (busy) busy(count >= static_cast<std::size_t>(request_.limit));
  std::string span = trace_claim(tracer_, *events, began);
  auto report = dispatcher_.process({*std::move(events), claimed_at, std::move(span)}, abandon);
  adapt(count, dispatcher_.in_handlers());
  if (report) *report += *earlier;
  return report;
}

// Full batches grow; slow handlers keep them short, so that other threads and processes get their share. What a claim
// and a settle take does not: a store that is slow or far away is one that wants larger batches.
void Worker::adapt(std::size_t claimed, Duration took) {
  constexpr double kWeight = 0.3;
  if (claimed > 0) {
    const double each = static_cast<double>(took.count()) / static_cast<double>(claimed);
    microseconds_per_event_ += (each - microseconds_per_event_) * (microseconds_per_event_ == 0.0 ? 1.0 : kWeight);
  }
  // Nearly full is full: numbers that were drawn and rolled back leave holes.
  const bool full = 4 * claimed >= 3 * static_cast<std::size_t>(batch_size_);
  const int grown = batch_size_ > options_.batch_max / 2 ? options_.batch_max : batch_size_ * 2;
  batch_size_ = full ? grown : options_.batch_min;
  const double fitting = static_cast<double>(options_.batch_time.count()) / std::max(microseconds_per_event_, 1.0);
  batch_size_ = std::clamp(batch_size_, 1, std::max(1, static_cast<int>(std::min(fitting, 1e6))));
}

}  // namespace sluice::runtime
