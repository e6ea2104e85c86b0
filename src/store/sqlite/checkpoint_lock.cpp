#include "store/sqlite/checkpoint_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace sluice::store::sqlite {
namespace {

bool lock(int descriptor, int operation) {
  int code = 0;
  do code = ::flock(descriptor, operation | LOCK_NB);
  while (code != 0 && errno == EINTR);
  return code == 0;
}

}  // namespace

CheckpointLock::CheckpointLock(const std::string& database_path)
    : descriptor_(::open((database_path + "-checkpoint").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)),
      works_(descriptor_ >= 0) {}

CheckpointLock::~CheckpointLock() {
  // The file stays: removing it would let two processes lock two different files of one name.
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool CheckpointLock::share(Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (works_ && !lock(descriptor_, LOCK_SH)) {
    if (errno != EWOULDBLOCK) works_ = false;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

bool CheckpointLock::try_alone() { return works_ && lock(descriptor_, LOCK_EX); }

void CheckpointLock::release() {
  if (works_) static_cast<void>(lock(descriptor_, LOCK_UN));
}

}  // namespace sluice::store::sqlite
