// What a process says of itself, and when.
#include <gmock/gmock.h>
#include <mutex>
#include <thread>

#include "runtime/supervisor.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

/// Keeps what the process says of its listener.
struct ListeningTold final : test::FaultyStore {
  using FaultyStore::FaultyStore;
  Result<void> announce(const store::WorkerRecord& worker) override {
    const std::scoped_lock lock{mutex};
    told.push_back(worker.listener);
    return FaultyStore::announce(worker);
  }
  Result<std::unique_ptr<store::ListenerConnection>> listen(const std::vector<std::string>& channels) override {
    while (all().size() < 2) std::this_thread::yield();
    return FaultyStore::listen(channels);
  }
  std::vector<std::string> all() {
    const std::scoped_lock lock{mutex};
    return told;
  }
  std::mutex mutex;
  std::vector<std::string> told;
};

class PresenceTest : public testing::Test {
 protected:
  PresenceTest() {
    options.worker = worker_options();
    options.presence_interval = std::chrono::days{365};
    options.backoff = {1ms, 2ms};
  }
  std::unique_ptr<Supervisor> start(store::Store& on) {
    auto started = Supervisor::start(on, handler.handlers(), {}, options);
    EXPECT_TRUE(started) << started.error().message;
    return std::move(started).value();
  }

  TestStore store;
  ScriptedHandler handler;
  SupervisorOptions options;
};

TEST_F(PresenceTest, WhatBecomesOfTheListenerIsToldAtOnce) {
  ListeningTold telling{*store};
  const auto supervisor = start(telling);
  while (telling.all().size() < 3) std::this_thread::yield();
  EXPECT_THAT(telling.all(), testing::ElementsAre("starting", "starting", "listening"));
}

TEST_F(PresenceTest, AListenerThatCouldNotConnectIsNotStarting) {
  ListeningTold telling{*store};
  telling.fail_verb("listen", {ErrorCode::unavailable, Retry::safe, "nobody answers", {}, {}});
  const auto supervisor = start(telling);
  while (telling.all().size() < 3) std::this_thread::yield();
  EXPECT_THAT(telling.all(), testing::ElementsAre("starting", "starting", "reconnecting"));
}

}  // namespace
}  // namespace sluice::runtime
