#include "sink/exec/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::sink {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostKept = 4096;
constexpr short kReadable = POLLIN;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

Error not_started(const std::string& path, int problem) {
  return {ErrorCode::unavailable, Retry::safe, path + " could not be started: " + std::strerror(problem), "", ""};
}

// A file in memory: the program may read it or not, and nobody waits for it to do so.
Descriptor input_file(std::string_view input) {
  Descriptor file{::memfd_create("sluice-event", MFD_CLOEXEC)};
  while (file.valid() && !input.empty()) {
    const ssize_t written = ::write(file.get(), input.data(), input.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Descriptor{};
    input.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file.valid()) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    all.push_back(const_cast<char*>(text.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): the C signature
  }
  all.push_back(nullptr);
  return all;
}

// In a process group of its own, with nothing of ours but the three descriptors.
class SpawnSetup {
 public:
  SpawnSetup(int input, int error) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnSetup() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  int spawn(pid_t& pid, const Program& program) {
    return ::posix_spawn(&pid, program.command.front().c_str(), &actions_, &attributes_,
                         pointers(program.command).data(), pointers(program.environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// False: the other end is closed.
bool read_some(int fd, std::string& kept) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  kept.append(buffer.data(), std::min(static_cast<std::size_t>(count), kMostKept - std::min(kMostKept, kept.size())));
  return count > 0;
}

// What is there already; somebody who left the process group may go on writing.
void drain(int fd, std::string& kept) {
  do {
    errno = 0;
  } while (kept.size() < kMostKept && read_some(fd, kept) && errno == 0);
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::int64_t{60} * 60 * 1000));
}

struct Watched {
  int process;  ///< a pidfd: readable once it has ended
  int error;
  int stop;  ///< an eventfd
};

// Until the process itself has ended; what it started may still hold its standard error open.
ProgramEnd::Kind watch(const Watched& watched, Clock::time_point deadline, std::string& kept) {
  std::array<pollfd, 3> events{
      {{watched.process, kReadable, 0}, {watched.stop, kReadable, 0}, {watched.error, kReadable, 0}}};
  while (true) {
    const int ready = ::poll(events.data(), events.size(), milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) return ProgramEnd::Kind::stopped;
    if (events[2].revents != 0 && !read_some(watched.error, kept)) events[2].fd = -1;
    if (events[0].revents != 0) return ProgramEnd::Kind::exited;
    if (events[1].revents != 0) return ProgramEnd::Kind::stopped;
    if (Clock::now() >= deadline) return ProgramEnd::Kind::timed_out;
  }
}

// glibc 2.36 declares its own function without C linkage.
int pidfd_of(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<ProgramEnd> run_program(const Program& program, const std::stop_token& stop) {
  const std::string& path = program.command.front();
  const Descriptor input = input_file(program.input);
  const Descriptor wake{::eventfd(0, EFD_CLOEXEC)};
  std::array<int, 2> pipe{-1, -1};
  if (!input.valid() || !wake.valid() || ::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return not_started(path, errno);
  }
  const Descriptor error{pipe[0]};
  ::fcntl(error.get(), F_SETFL, O_NONBLOCK);  // our end only: the program may write as it is used to
  Descriptor error_of_program{pipe[1]};
  pid_t pid = -1;
  const auto deadline = Clock::now() + program.timeout;
  if (const int problem = SpawnSetup{input.get(), error_of_program.get()}.spawn(pid, program); problem != 0) {
    return not_started(path, problem);
  }
  error_of_program.close();
  const Descriptor process{pidfd_of(pid)};
  const std::stop_callback on_stop{stop, [&wake] { ::eventfd_write(wake.get(), 1); }};
  ProgramEnd end;
  end.kind = process.valid() ? watch({process.get(), error.get(), wake.get()}, deadline, end.error)
                             : ProgramEnd::Kind::stopped;
  // Before it is reaped, while nobody else can have its number; whatever it left behind goes with it.
  ::kill(-pid, SIGKILL);
  const int status = reap(pid);
  drain(error.get(), end.error);
  if (end.kind != ProgramEnd::Kind::exited) return end;
  if (WIFSIGNALED(status)) end.kind = ProgramEnd::Kind::killed;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace sluice::sink
