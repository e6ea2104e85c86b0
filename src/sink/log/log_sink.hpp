// The log sink: every event becomes one log line and is handled. What a first event meets on an
// embedded store.
#pragma once

#include <string>

#include "sink/sink.hpp"
#include "telemetry/log.hpp"

namespace sluice::sink {

struct LogSinkOptions {
  std::string handler_name = "sluice.log";
  std::size_t payload_bytes = 1024;  ///< a longer payload is cut in the line
};

class LogSink final : public Sink {
 public:
  explicit LogSink(telemetry::Logger logger, LogSinkOptions options = {});
  std::vector<Outcome> deliver(std::span<const store::ClaimedEvent> events) override;

 private:
  void write(const store::ClaimedEvent& event) const;

  telemetry::Logger logger_;
  LogSinkOptions options_;
};

}  // namespace sluice::sink
