#include "cli/payload_source.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <system_error>

namespace sluice::cli {
namespace {

Result<std::string> read_bounded(std::istream& in, std::size_t limit) {
  std::string text;
  std::array<char, std::size_t{16} * 1024> chunk{};
  while (in.read(chunk.data(), chunk.size()) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit) {
      Error error = invalid("--data", "--data: the payload exceeds " + std::to_string(limit) + " bytes");
      error.hint = "payload_max_bytes sets the limit";
      return error;
    }
  }
  return text;
}

}  // namespace

Result<std::string> read_payload(const std::string& data, Console& console, bool may_read_terminal, std::size_t limit) {
  if (data == "-") {
    if (console.in_is_tty && !may_read_terminal) {
      return invalid("--data", "--data - reads standard input, which is a terminal, and --no-input is given");
    }
    return read_bounded(console.in, limit);
  }
  if (!data.starts_with('@')) return data;
  const std::string path = data.substr(1);
  const auto unreadable = [&path](const std::string& why) {
    return invalid("--data", "--data: the file " + path + " cannot be read: " + why);
  };
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return unreadable("it is a directory");
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file) return unreadable(std::strerror(errno));
  return read_bounded(file, limit);
}

}  // namespace sluice::cli
