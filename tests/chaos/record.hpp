// What the programs of the campaign leave behind outside the database: lines that are in the file when append()
// returns, so that a kill loses none. Times are of the monotonic clock, which all processes of a machine share.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sluice/uuid.hpp>

namespace sluice::chaos {

class Record {
 public:
  explicit Record(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (file_ < 0) throw std::runtime_error("cannot write " + path);
  }
  ~Record() { ::close(file_); }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  void append(std::string_view lines) const {
    if (::write(file_, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) std::abort();
  }

 private:
  int file_;
};

inline std::string now() {
  return std::to_string(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1});
}

/// Events are numbered: publisher, then count. The number is the end of the id, behind a time as version 7 wants it.
constexpr int kNumberBytes = 7;

inline Uuid id_of(std::uint64_t number, std::uint64_t milliseconds) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(milliseconds >> (8 * (5 - i)));
  bytes[6] = 0x70;
  bytes[8] = 0x80;
  for (std::size_t i = 0; i < kNumberBytes; ++i) bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return Uuid{bytes};
}

inline std::uint64_t number_of(const Uuid& id) {
  std::uint64_t number = 0;
  for (std::size_t i = 16 - kNumberBytes; i < 16; ++i) number = number << 8U | id.bytes[i];
  return number;
}

/// Words of the command line: name=value.
class Settings {
 public:
  Settings(int count, char** words) {
    for (int i = 1; i < count; ++i) {
      const std::string word = words[i];
      const auto at = word.find('=');
      if (at == std::string::npos) throw std::runtime_error("expected name=value, found " + word);
      values_[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise = {}) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  [[nodiscard]] int number(const std::string& name, int otherwise = 0) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::stoi(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace sluice::chaos
