// The log sink: every event becomes one log line and is handled. What a first event meets on an
// embedded store.
#pragma once

#include <functional>
#include <string>

#include "host/entropy.hpp"
#include "sink/switched_sink.hpp"
#include "telemetry/log.hpp"

namespace sluice::sink {

struct LogSinkOptions {
  std::string name = "log";
  std::size_t payload_bytes = 1024;                     ///< a longer payload is cut in the line
  double rate = 0;                                      ///< lines per second; 0: no limit
  std::function<Timestamp()> clock = host::wall_clock;  ///< the store's time
};

class LogSink final : public SwitchedSink {
 public:
  explicit LogSink(telemetry::Logger logger, LogSinkOptions options = {});

 private:
  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) override;
  void write(const EventEnvelope& envelope, const Delivery& delivery, std::size_t event) const;

  telemetry::Logger logger_;
  LogSinkOptions options_;
};

}  // namespace sluice::sink
