// The real binary in a folder of its own, with nothing in its environment but what the test gives.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temp_dir.hpp"

namespace sluice::test {

struct Finished {
  int exit = -1;  ///< 128 + n when signal n ended it
  std::string out;
  std::string err;
};

/// A child whose standard output is read as it comes. Killed when it goes out of scope.
class Running {
 public:
  Running(pid_t pid, int out, std::string err_path) : pid_(pid), out_(out), err_path_(std::move(err_path)) {}
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Blocks until a whole line came, or the child closed its output: then empty.
  std::string read_line();
  void signal(int number) const;
  /// Waits for the end; `out` is what read_line has not taken.
  Finished finish();

 private:
  pid_t pid_;
  int out_;
  std::string err_path_;
};

/// An empty home directory, and the binary started in it.
class Home {
 public:
  Home();

  Finished sluice(const std::vector<std::string>& words, const std::string& input = "");
  std::unique_ptr<Running> start(const std::vector<std::string>& words, const std::string& input = "");

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] bool exists(const std::string& name) const;
  /// Names of everything below the folder, except what start() itself writes.
  [[nodiscard]] std::vector<std::string> files() const;

  std::map<std::string, std::string> environment;
  std::optional<std::uint64_t> file_size_limit;  ///< bytes: no file grows beyond it, as on a full disk
  bool as_nobody = false;  ///< started by root: gives the rights up, so that file permissions bind

 private:
  TempDir folder_;
  TempDir streams_;
  int started_ = 0;
};

}  // namespace sluice::test
