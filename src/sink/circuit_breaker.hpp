// Keeps a sink from hammering a receiver that does not answer. Pure: the caller tells the time.
//
// closed: everything passes. After so many failures in a row: open, nothing passes until it has rested. Then half
// open: one try; its success closes the circuit, its failure opens it again.
#pragma once

#include <optional>

#include <sluice/time.hpp>
#include "sink/sink.hpp"

namespace sluice::sink {

struct BreakerRules {
  int failures = 10;                          ///< in a row
  Duration rest = std::chrono::seconds{30};   ///< before the next try
  Duration glance = std::chrono::seconds{1};  ///< how long others wait while a try is under way
};

class CircuitBreaker {
 public:
  enum class State { closed, open, half_open };

  explicit CircuitBreaker(BreakerRules rules) : rules_(rules) {}

  /// None: go, and report how it went. Else not before then.
  std::optional<Timestamp> ask(Timestamp now);
  void succeeded();
  void failed(Timestamp now);
  /// Neither, as when a delivery was given up from this side: a try that was under way may be made by another.
  void abandoned();
  void reset() { *this = CircuitBreaker{rules_}; }
  /// Another process has found it open: the next try is due at `resumes_at`, and not sooner than it was here.
  void open_until(Timestamp resumes_at);

  [[nodiscard]] State state() const { return state_; }
  /// When the next try is due; only while it is open.
  [[nodiscard]] std::optional<Timestamp> resumes_at() const;

 private:
  BreakerRules rules_;
  State state_ = State::closed;
  int failures_ = 0;
  bool trying_ = false;
  Timestamp resumes_at_{};
};

/// How a sink whose circuit is so is described.
constexpr SinkState state_of(CircuitBreaker::State state) {
  switch (state) {
    case CircuitBreaker::State::closed:
      return SinkState::active;
    case CircuitBreaker::State::open:
      return SinkState::open;
    case CircuitBreaker::State::half_open:
      return SinkState::half_open;
  }
  return SinkState::active;
}

}  // namespace sluice::sink
