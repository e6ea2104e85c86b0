#include "store/sqlite/owner_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace sluice::store::sqlite {

OwnerLock::OwnerLock(const std::string& database_path)
    : descriptor_(::open((database_path + "-owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}

OwnerLock::~OwnerLock() {
  // The file stays: removing it would let two processes lock two different files of one name.
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool OwnerLock::try_acquire() {
  if (!held_ && descriptor_ >= 0) held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  return held_;
}

}  // namespace sluice::store::sqlite
