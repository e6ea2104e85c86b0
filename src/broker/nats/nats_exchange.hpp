// Many requests at once, and an answer to each: JetStream answers a publish and an acknowledgement to the reply subject
// that came with it. One subscription gathers the answers of one call.
//
// Thread-safety: one thread; make one per call.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "broker/nats/nats_link.hpp"

namespace sluice::broker {

class NatsExchange {
 public:
  using Clock = std::chrono::steady_clock;

  /// More than this many requests without an answer make the next one wait.
  static constexpr std::size_t kWindow = 1024;

  static Result<NatsExchange> begin(const NatsConnection& connection, std::size_t requests, Clock::time_point deadline,
                                    std::stop_token stop);

  /// The reply subject of the nth request, to be given with its message.
  [[nodiscard]] std::string reply_subject(std::size_t nth) const { return inbox_ + '.' + std::to_string(nth); }
  /// Sends a request. When the window is full, gathers answers first. A request that could not be sent gets no answer.
  natsStatus send(natsMsg* message);
  /// Waits for the answers that are missing, until the deadline, a stop, or the end of the connection.
  void gather();
  /// None: it was not sent, nobody was there, or no answer came.
  [[nodiscard]] natsMsg* answer(std::size_t nth) const { return answers_[nth].get(); }
  /// Of a request that was sent and has no answer: the server said that nobody listens to its subject.
  [[nodiscard]] bool nobody_listens() const { return no_listeners_ && unanswered_ == 0; }
  [[nodiscard]] bool connection_broke() const { return broke_; }

 private:
  NatsExchange(NatsConnection connection, std::size_t requests, Clock::time_point deadline, std::stop_token stop);
  bool gather_one();

  NatsConnection connection_;
  std::string inbox_;
  NatsSubscription subscription_;
  std::vector<NatsMsg> answers_;
  std::size_t unanswered_ = 0;
  Clock::time_point deadline_;
  std::stop_token stop_;
  bool broke_ = false;
  bool no_listeners_ = false;
};

/// A subject that nobody else listens to.
Result<std::string> make_inbox();

}  // namespace sluice::broker
