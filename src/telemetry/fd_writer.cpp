#include "telemetry/fd_writer.hpp"

#include <unistd.h>
#include <cerrno>

namespace sluice::telemetry {

LogWriter write_to_fd(int fd) {
  return [fd](std::string_view line) {
    while (!line.empty()) {
      const ssize_t written = ::write(fd, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      line.remove_prefix(static_cast<std::size_t>(written));
    }
  };
}

LogFormat format_for_fd(int fd) { return ::isatty(fd) == 1 ? LogFormat::human : LogFormat::json; }

}  // namespace sluice::telemetry
