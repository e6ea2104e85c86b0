// A process that relays to --broker, within the program.
#pragma once

#include <memory>

#include "bench/bench.hpp"
#include "broker/broker.hpp"
#include "runtime/supervisor.hpp"

namespace sluice::bench {

class Relaying {
 public:
  /// Makes the stream, subscribes one handler and turns the switch; relays nothing yet.
  explicit Relaying(const Options& options);
  void start();
  /// How many events the broker has taken.
  [[nodiscard]] std::int64_t relayed() const;

 private:
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<broker::Broker> broker_;
  runtime::SupervisorOptions options_;
  std::unique_ptr<runtime::Supervisor> supervisor_;
};

}  // namespace sluice::bench
