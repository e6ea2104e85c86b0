#include "store/sqlite/bell.hpp"

#include <filesystem>
#include <map>
#include <system_error>

namespace sluice::store::sqlite {

std::shared_ptr<Bell> Bell::of(const std::string& path) {
  // Leaked on purpose: a store may outlive every static object.
  static auto& mutex = *new std::mutex;
  static auto& bells = *new std::map<std::string, std::weak_ptr<Bell>>;
  std::error_code unknown;
  std::string file = std::filesystem::weakly_canonical(path, unknown).string();
  if (unknown) file = path;
  const std::lock_guard lock{mutex};
  std::erase_if(bells, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Bell>& known = bells[file];
  std::shared_ptr<Bell> bell = known.lock();
  if (!bell) known = bell = std::make_shared<Bell>();
  return bell;
}

void Bell::notify() {
  {
    const std::lock_guard lock{mutex_};
    ++notifications_;
  }
  changed_.notify_all();
}

std::uint64_t Bell::notifications() const {
  const std::lock_guard lock{mutex_};
  return notifications_;
}

void Bell::nudge() {
  // Taking the lock orders the nudge after a waiter's look and before its sleep.
  { const std::lock_guard lock{mutex_}; }
  changed_.notify_all();
}

}  // namespace sluice::store::sqlite
