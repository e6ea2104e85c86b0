#include "sink/exec/exec_verdict.hpp"

#include <sysexits.h>

#include <string>

#include "sink/excerpt.hpp"

namespace sluice::sink {
namespace {

std::string with_words(std::string message, const ProgramEnd& end) {
  const std::string said = excerpt(end.error);
  return said.empty() ? message : message + ": " + said;
}

}  // namespace

Verdict verdict_of(const ProgramEnd& end, std::string_view program) {
  const std::string name{program};
  const std::string code = std::to_string(end.code);
  switch (end.kind) {
    case ProgramEnd::Kind::timed_out:
      return Verdict::failed("timeout", with_words(name + " took too long and was killed", end));
    case ProgramEnd::Kind::stopped:
      return Verdict::failed("stopped", with_words(name + " was stopped before it ended", end));
    case ProgramEnd::Kind::killed:
      return Verdict::failed("signal_" + code, with_words(name + " was killed by signal " + code, end));
    case ProgramEnd::Kind::exited:
      break;
  }
  if (end.code == EX_OK) return Verdict::handled();
  Verdict verdict = Verdict::failed("exit_" + code, with_words(name + " exited with status " + code, end));
  verdict.terminal = end.code == EX_DATAERR;
  return verdict;
}

}  // namespace sluice::sink
