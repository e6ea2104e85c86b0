// How the listeners of one process hear about one file: every store, listener and publisher of the file in this
// process shares its bell.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <sluice/time.hpp>

namespace sluice::store::sqlite {

class Bell {
 public:
  /// The bell of this file, by whichever path it is reached.
  static std::shared_ptr<Bell> of(const std::string& path);

  void notify();
  [[nodiscard]] std::uint64_t notifications() const;

  /// Wakes whoever waits, so that it looks at what it waits for.
  void nudge();
  /// Waits until `done()` holds or `at_most` has passed; `done` runs under the bell's lock, and is asked
  /// again at each notification and each nudge.
  template <class Done>
  void wait(Duration at_most, Done done) const {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, at_most, [&] { return done(notifications_); });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t notifications_ = 0;
};

}  // namespace sluice::store::sqlite
