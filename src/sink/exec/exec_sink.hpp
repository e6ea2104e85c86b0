// The exec sink: a program is run for every event and reads the envelope as JSON from its standard input. Off unless
// the operator turns it on.
//
// Exit status 0 is a delivery; 65 (EX_DATAERR) fails the event at once; everything else is tried again.
//
// TRACEPARENT in its environment is that of its own span where traces are recorded, else that of the event.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sluice/tracer.hpp>
#include "host/entropy.hpp"
#include "sink/sink.hpp"
#include "sink/switched_sink.hpp"

namespace sluice::sink {

struct ExecSinkOptions {
  std::string name;
  std::vector<std::string> command;  ///< an absolute path and its arguments; no shell
  Duration timeout = std::chrono::seconds{15};
  int concurrency = 4;                                  ///< programs at the same time
  double rate = 0;                                      ///< per second; 0: no limit
  std::function<Timestamp()> clock = host::wall_clock;  ///< the store's time
  Tracer* tracer = nullptr;                             ///< outlives the sink; none: nothing is traced
};

std::unique_ptr<Sink> open_exec_sink(ExecSinkOptions options);

}  // namespace sluice::sink
