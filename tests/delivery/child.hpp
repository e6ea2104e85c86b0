// A child process with a pipe each way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sluice::test {

class Child {
 public:
  explicit Child(const std::vector<std::string>& words);
  ~Child();  ///< killed if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Blocks until a whole line came; empty when the child closed its output.
  std::string read_line();
  /// To the child's standard input.
  void write(const std::string& text) const;
  /// Closes the child's standard input.
  void close_input();
  void signal(int number) const;
  /// Waits until a signal has stopped it; false when it ended instead.
  [[nodiscard]] bool wait_until_stopped();
  /// Waits for its end: the exit code, or minus the signal that killed it.
  int wait();

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
};

}  // namespace sluice::test
