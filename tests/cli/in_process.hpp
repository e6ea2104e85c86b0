// The command line in this process: words in, exit code and both streams out.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "tests/cli/fake_store.hpp"

namespace sluice::test {

struct Answer {
  cli::Exit exit = cli::Exit::ok;
  std::string out;
  std::string err;
};

class CommandLine {
 public:
  CommandLine();

  Answer operator()(std::vector<std::string> words);

  FakeData data;                    ///< what the store holds
  bool store_exists = true;         ///< false: opening without `create` is not_found
  std::optional<Error> open_error;  ///< opening fails with it
  std::vector<cli::OpenRequest> opened;
  config::Environment environment;
  std::string input;  ///< standard input
  bool terminal = false;
  std::deque<bool> interruptions;       ///< answers of wait_for, then `true` for ever
  std::vector<std::string> daemon_log;  ///< started, stopped
  std::optional<Error> daemon_error;

 private:
  std::uint8_t random_ = 0;
};

}  // namespace sluice::test
