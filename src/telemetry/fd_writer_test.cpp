#include "telemetry/fd_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <thread>

namespace sluice::telemetry {
namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

TEST(FdWriter, WritesWholeLinesEvenWhenThePipeIsSmall) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string line = std::string(1'000'000, 'x') + "\n";
  std::jthread writer{[&] {
    write_to_fd(ends[1])(line);
    ::close(ends[1]);
  }};
  EXPECT_EQ(read_all(ends[0]), line);
  ::close(ends[0]);
}

TEST(FdWriter, AClosedPipeLosesTheLineAndNothingElse) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  const LogWriter write = write_to_fd(ends[1]);
  EXPECT_NO_THROW(write("lost\n"));
  ::close(ends[1]);
  EXPECT_NO_THROW(write("lost too\n"));
}

TEST(FdWriter, APipeIsNoTerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(format_for_fd(ends[1]), LogFormat::json);
  EXPECT_EQ(format_for_fd(-1), LogFormat::json);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace sluice::telemetry
