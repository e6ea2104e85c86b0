// The http sink: every event is one POST, signed as Standard Webhooks says, to one receiver.
//
// A 2xx is a delivery. 410 disables the sink; 410, 413 and what the operator names fail the event at once; everything
// else is tried again, no sooner than Retry-After asks. After failures in a row the circuit opens and events wait
// without an attempt being counted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sluice/tracer.hpp>
#include "core/ip_address.hpp"
#include "host/entropy.hpp"
#include "sink/circuit_breaker.hpp"
#include "sink/http/http_verdict.hpp"
#include "sink/http/request.hpp"
#include "sink/sink.hpp"
#include "sink/switched_sink.hpp"

namespace sluice::sink {

struct HttpSinkOptions {
  std::string name;
  std::string url;
  RequestRules request;
  std::vector<std::pair<std::string, std::string>> headers;  ///< sent with every delivery
  Duration connect_timeout = std::chrono::seconds{5};
  Duration timeout = std::chrono::seconds{15};
  std::vector<Network> allowed;  ///< addresses beyond those of the Internet
  StatusRules statuses;
  BreakerRules breaker;
  int concurrency = 64;                                 ///< requests at the same time
  double rate = 0;                                      ///< per second; 0: no limit
  std::function<Timestamp()> clock = host::wall_clock;  ///< the store's time
  Tracer* tracer = nullptr;                             ///< outlives the sink; none: nothing is traced
};

std::unique_ptr<Sink> open_http_sink(HttpSinkOptions options);

}  // namespace sluice::sink
