// Carries out the operations that this server started, beside the requests. Whoever else may (a daemon, the command
// line) does it instead where it is faster; the store lets one act at a time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ops/operation_runner.hpp"

namespace sluice::mcp {

class OperationCarrier {
 public:
  using Note = std::function<void(const std::string& text)>;  ///< from its own thread

  OperationCarrier(ops::OperationRunner runner, Note note) : runner_(std::move(runner)), note_(std::move(note)) {}

  /// Starts the thread. Without it, step() does the work.
  void start();
  /// Ends the thread after the step that it is in; lets others go on at once with what is not over, and returns it.
  std::vector<Uuid> stop();

  void add(const Uuid& operation);

  /// One step of each operation; how long to rest then.
  Duration step();

 private:
  void run(const std::stop_token& stop);
  Duration step(const Uuid& operation);

  ops::OperationRunner runner_;
  Note note_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Uuid> operations_;
  bool added_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace sluice::mcp
