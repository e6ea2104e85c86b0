#include "tests/delivery/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

namespace sluice::test {

Child::Child(const std::vector<std::string>& words) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  in_ = in[1];
  out_ = out[0];
}

Child::~Child() {
  close_input();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    static_cast<void>(wait());
  }
  ::close(out_);
}

std::string Child::read_line() {
  std::string line;
  char c = 0;
  while (::read(out_, &c, 1) == 1) {
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

void Child::write(const std::string& text) const {
  if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw std::runtime_error("no child");
}

void Child::close_input() {
  if (in_ >= 0) ::close(in_);
  in_ = -1;
}

void Child::signal(int number) const { ::kill(pid_, number); }

bool Child::wait_until_stopped() {
  int status = 0;
  ::waitpid(pid_, &status, WUNTRACED);
  if (WIFSTOPPED(status)) return true;
  pid_ = -1;
  return false;
}

int Child::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace sluice::test
