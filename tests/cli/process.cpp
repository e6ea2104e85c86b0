#include "tests/cli/process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace sluice::test {
namespace {

constexpr uid_t kNobody = 65534;

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// In the child. The write beyond the limit then fails with EFBIG; without the signal, which would end
// the process. What is ignored stays so across exec.
bool limit_file_size(std::uint64_t bytes) {
  const rlimit limit{bytes, bytes};
  return ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Running::~Running() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
}

std::string Running::read_line() {
  std::string line;
  char byte = 0;
  while (::read(out_, &byte, 1) == 1) {
    if (byte == '\n') return line;
    line += byte;
  }
  return line;
}

void Running::signal(int number) const { ::kill(pid_, number); }

Finished Running::finish() {
  Finished finished;
  std::array<char, 4096> chunk{};
  ssize_t count = 0;
  while ((count = ::read(out_, chunk.data(), chunk.size())) > 0) {
    finished.out.append(chunk.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  finished.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.err = contents(err_path_);
  return finished;
}

Home::Home() { environment = {{"HOME", folder_.path().string()}, {"USER", "tester"}, {"PATH", "/usr/bin:/bin"}}; }

std::unique_ptr<Running> Home::start(const std::vector<std::string>& words, const std::string& input) {
  const std::string number = std::to_string(started_++);
  const std::string in_path = streams_.file("in" + number);
  const std::string err_path = streams_.file("err" + number);
  std::ofstream{in_path} << input;

  // Everything that allocates happens before the fork.
  std::vector<std::string> arguments{SLUICE_BINARY};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + '=' + value);
  // Tests run side by side: no daemon may claim the address that every one has by default.
  const bool serves = !words.empty() && words.front() == "serve";
  if (serves && !environment.contains("SLUICE_HTTP_LISTEN")) variables.emplace_back("SLUICE_HTTP_LISTEN=127.0.0.1:0");
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  const std::string folder = folder_.path().string();
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");

  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) {
    const int in = ::open(in_path.c_str(), O_RDONLY);
    const int err = ::open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (::chdir(folder.c_str()) != 0 || ::dup2(in, 0) < 0 || ::dup2(pipe[1], 1) < 0 || ::dup2(err, 2) < 0) ::_exit(127);
    if (as_nobody && ::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(127);
    if (file_size_limit && !limit_file_size(*file_size_limit)) ::_exit(127);
    ::execve(SLUICE_BINARY, argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  return std::make_unique<Running>(pid, pipe[0], err_path);
}

Finished Home::sluice(const std::vector<std::string>& words, const std::string& input) {
  return start(words, input)->finish();
}

void Home::write(const std::string& name, const std::string& text) const { std::ofstream{path(name)} << text; }

bool Home::exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

std::vector<std::string> Home::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_.path()}) {
    names.push_back(std::filesystem::relative(entry.path(), folder_.path()).string());
  }
  return names;
}

}  // namespace sluice::test
