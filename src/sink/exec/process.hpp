// Runs one program to its end; the only place of the sinks that sees processes.
//
// Thread-safety: any number of threads may run programs at once.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice::sink {

struct Program {
  const std::vector<std::string>& command;  ///< an absolute path and its arguments; no shell
  std::vector<std::string> environment;     ///< `NAME=value`: all that it gets
  std::string_view input;                   ///< what it reads
  Duration timeout{};
};

struct ProgramEnd {
  enum class Kind {
    exited,
    killed,     ///< by a signal from elsewhere
    timed_out,  ///< and was killed, with all that it had started
    stopped,    ///< the same, because a stop was asked for
  };
  Kind kind = Kind::exited;
  int code = 0;       ///< the exit status, or the signal
  std::string error;  ///< the beginning of what it wrote to its standard error
};

/// What it writes to its standard output is dropped. An error means that it could not be started.
Result<ProgramEnd> run_program(const Program& program, const std::stop_token& stop);

}  // namespace sluice::sink
