#include "sink/circuit_breaker.hpp"

#include <algorithm>

namespace sluice::sink {

std::optional<Timestamp> CircuitBreaker::ask(Timestamp now) {
  if (state_ == State::closed) return std::nullopt;
  if (state_ == State::open) {
    if (now < resumes_at_) return resumes_at_;
    state_ = State::half_open;
    trying_ = false;
  }
  if (trying_) return now + rules_.glance;
  trying_ = true;
  return std::nullopt;
}

void CircuitBreaker::succeeded() {
  // One that began before the circuit opened says nothing about now.
  if (state_ == State::open) return;
  state_ = State::closed;
  failures_ = 0;
  trying_ = false;
}

void CircuitBreaker::failed(Timestamp now) {
  if (state_ == State::open) return;
  ++failures_;
  if (state_ == State::closed && failures_ < rules_.failures) return;
  state_ = State::open;
  resumes_at_ = now + rules_.rest;
  trying_ = false;
}

void CircuitBreaker::open_until(Timestamp resumes_at) {
  // A try that is under way tells more, and it tells it soon.
  if (state_ == State::half_open && trying_) return;
  resumes_at_ = state_ == State::closed ? resumes_at : std::max(resumes_at_, resumes_at);
  state_ = State::open;
  trying_ = false;
}

void CircuitBreaker::abandoned() { trying_ = false; }

std::optional<Timestamp> CircuitBreaker::resumes_at() const {
  return state_ == State::open ? std::optional{resumes_at_} : std::nullopt;
}

}  // namespace sluice::sink
