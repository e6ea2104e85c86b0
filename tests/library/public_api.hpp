// What tests of the public API share: an embedded store of their own, and waiting without sleeping.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <sluice/listener.hpp>
#include <sluice/publisher.hpp>
#include "tests/support/temp_dir.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

template <class T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// What handlers noted, in order; and who waits for it.
class Notes {
 public:
  void add(std::string note) {
    const std::lock_guard lock{mutex_};
    notes_.push_back(std::move(note));
    grown_.notify_all();
  }
  /// The test's own time limit ends a wait for what never comes.
  std::vector<std::string> await(std::size_t count) const {
    std::unique_lock lock{mutex_};
    grown_.wait(lock, [&] { return notes_.size() >= count; });
    return notes_;
  }
  [[nodiscard]] std::vector<std::string> all() const { return await(0); }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable grown_;
  std::vector<std::string> notes_;
};

/// The user's own connection to the file.
class OwnConnection {
 public:
  explicit OwnConnection(const std::string& file) : handle_(nullptr, sqlite3_close) {
    sqlite3* opened = nullptr;
    if (sqlite3_open(file.c_str(), &opened) != SQLITE_OK) throw std::runtime_error("cannot open " + file);
    handle_.reset(opened);
    sqlite3_busy_timeout(opened, 10'000);
  }
  /// Returns the first column of the last row.
  std::string run(const std::string& sql) const {
    std::string value;
    const auto keep = [](void* into, int, char** values, char**) {
      *static_cast<std::string*>(into) = values[0] == nullptr ? "null" : values[0];
      return 0;
    };
    if (sqlite3_exec(handle_.get(), sql.c_str(), keep, &value, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle_.get()));
    }
    return value;
  }
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

class PublicApi : public testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return directory_.file("events.db"); }
  [[nodiscard]] std::string store() const { return "sqlite:" + file(); }

  EventPublisher& publisher() {
    if (!publisher_) publisher_ = std::make_unique<EventPublisher>(required(EventPublisher::open({.store = store()})));
    return *publisher_;
  }
  EventListener listener(int threads = 2) {
    return required(EventListener::open({.store = store(), .threads = threads}));
  }

  EventEnvelope event(const std::string& payload = "{}", const std::string& type = "test.happened") {
    EnvelopeDraft draft = publisher().draft();
    draft.event_type = type;
    draft.source = "tests";
    draft.payload = payload;
    return required(EventEnvelope::make(std::move(draft)));
  }
  void publish(const std::string& payload = "{}", const Routing& routing = {}) {
    required(publisher().publish(event(payload), routing));
  }

  static RetryPolicy quick_retry(int attempts = 5) {
    RetryPolicy policy;
    policy.max_attempts = attempts;
    policy.base = policy.cap = 1ms;
    policy.jitter = Jitter::none;
    return policy;
  }

 private:
  TempDir directory_;
  std::unique_ptr<EventPublisher> publisher_;
};

}  // namespace sluice::test
