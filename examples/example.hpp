// What the examples share: where they keep their events, and what they do about an error.
#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include <sluice/listener.hpp>

namespace example {

/// The store that SLUICE_STORE names, or an embedded one that is gone with this object.
class Store {
 public:
  Store() {
    if (const char* named = std::getenv("SLUICE_STORE"); named != nullptr && *named != '\0') {
      address_ = named;
      return;
    }
    std::string folder = (std::filesystem::temp_directory_path() / "sluice-example.XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot create " + folder);
    folder_ = folder;
    address_ = "sqlite:" + file();
  }
  ~Store() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] bool is_postgres() const { return address_.starts_with("postgres"); }
  [[nodiscard]] std::string file() const {
    return folder_.empty() ? address_.substr(address_.find(':') + 1) : (folder_ / "events.db").string();
  }

 private:
  std::filesystem::path folder_;
  std::string address_;
};

/// The value; an error ends the program with its sentence.
template <class T>
T required(sluice::Result<T> result) {
  if (!result) {
    std::cerr << "error: " << result.error().message << '\n';
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Counts what handlers have done, for the thread that waits for it.
class Progress {
 public:
  void add(int count = 1) {
    done_ += count;
    done_.notify_all();
  }
  void await(int count) const {
    for (int seen = done_; seen < count; seen = done_) done_.wait(seen);
  }

 private:
  std::atomic<int> done_ = 0;
};

/// Retries at once, so that an example does not take its time.
inline sluice::RetryPolicy quick_retry() {
  sluice::RetryPolicy policy;
  policy.base = policy.cap = std::chrono::milliseconds{10};
  policy.jitter = sluice::Jitter::none;
  return policy;
}

}  // namespace example
