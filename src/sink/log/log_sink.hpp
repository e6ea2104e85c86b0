// The log sink: every event becomes one log line and is handled. What a first event meets on an
// embedded store.
#pragma once

#include <string>

#include "sink/sink.hpp"
#include "telemetry/log.hpp"

namespace sluice::sink {

struct LogSinkOptions {
  std::size_t payload_bytes = 1024;  ///< a longer payload is cut in the line
};

class LogSink final : public Sink {
 public:
  explicit LogSink(telemetry::Logger logger, LogSinkOptions options = {});
  std::vector<Verdict> deliver(std::span<const EventEnvelope> events, const Delivery& delivery) override;

 private:
  void write(const EventEnvelope& envelope, const Delivery& delivery, int attempts) const;

  telemetry::Logger logger_;
  LogSinkOptions options_;
};

}  // namespace sluice::sink
