// The command line in this process: words in, exit code and both streams out. The store is a real
// embedded one, below a home directory that is gone with the test.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::store {
class Store;
}

namespace sluice::test {

struct Answer {
  cli::Exit exit = cli::Exit::ok;
  std::string out;
  std::string err;
};

class CommandLine {
 public:
  explicit CommandLine(EmbeddedStore::Start start = EmbeddedStore::Start::migrated);

  Answer operator()(std::vector<std::string> words);

  EmbeddedStore store;                    ///< what the commands open when no flag names another one
  std::map<std::string, Error> failures;  ///< by verb: each call of it fails
  std::optional<Error> open_error;        ///< opening fails with it
  std::vector<cli::OpenRequest> opened;
  config::Environment environment;
  std::string input;  ///< standard input
  bool terminal = false;
  std::deque<bool> interruptions;               ///< answers of wait_for, then `true` for ever
  std::deque<std::function<void()>> meanwhile;  ///< what others do during the n-th wait
  std::vector<std::string> daemon_log;          ///< started, stopped
  std::string daemon_url;                       ///< where the daemon says it answers; empty: nowhere
  std::optional<Error> daemon_error;
  /// What stands in for each alert receiver that is configured; empty: none of them answers.
  std::function<Result<alert::Sent>(const Alert&)> receiver;
  std::function<Result<ops::Trial>(const std::string& name)> trial;  ///< of a sink; empty: none is declared

 private:
  Result<std::unique_ptr<store::Store>> open(const cli::OpenRequest& request);
  std::uint8_t random_ = 0;
};

}  // namespace sluice::test
