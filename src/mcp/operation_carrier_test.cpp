#include "mcp/operation_carrier.hpp"

#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

class OperationCarrierTest : public ToolFixture {
 protected:
  Uuid start_replay(int events) {
    fail_some(events);
    const std::string token = call("plan_replay", R"({"filter":"type:demo.*"})").text("token");
    const auto started = call("execute_replay_plan", R"({"token":")" + token + R"(","reason":"r","confirm_count":)" +
                                                         std::to_string(events) + '}');
    EXPECT_FALSE(started.failed) << started.json;
    return carried.back();
  }
  store::OperationRecord seen(const Uuid& id) { return test::must(store->operation(id)); }

  std::vector<std::string> notes;
  OperationCarrier carrier{ops::OperationRunner{*store, "mcp-1"},
                           [this](const std::string& text) { notes.push_back(text); }};
};

TEST_F(OperationCarrierTest, CarriesOutWhatItIsGivenUntilItIsOver) {
  const Uuid id = start_replay(3);
  carrier.add(id);
  carrier.step();
  for (int number = 1; number <= 3; ++number) store.deliver(test::id_of(number));
  for (int steps = 0; steps < 10 && !is_over(seen(id).progress.state); ++steps) {
    store.now += std::chrono::seconds{1};
    carrier.step();
  }
  EXPECT_EQ(seen(id).progress.state, OperationState::finished);
  EXPECT_EQ(seen(id).progress.counts.delivered, 3);
  EXPECT_EQ(notes, std::vector<std::string>{"operation " + id.to_string() + " is finished"});
  EXPECT_TRUE(carrier.stop().empty());
}

TEST_F(OperationCarrierTest, AStopLeavesTheRestToOthersAtOnce) {
  const Uuid id = start_replay(2);
  carrier.add(id);
  carrier.step();
  EXPECT_EQ(seen(id).executor, "mcp-1");
  EXPECT_EQ(carrier.stop(), std::vector<Uuid>{id});
  EXPECT_TRUE(store->hold_operation(id, "daemon-1", std::chrono::seconds{15})) << "without waiting for the lease";
}

TEST_F(OperationCarrierTest, WhatSomebodyElseCarriesOutIsOnlyWatched) {
  const Uuid id = start_replay(2);
  ASSERT_TRUE(store->hold_operation(id, "daemon-1", std::chrono::seconds{15}));
  carrier.add(id);
  carrier.step();
  EXPECT_EQ(seen(id).progress.counts.taken, 0);
  EXPECT_EQ(seen(id).executor, "daemon-1");
}

TEST_F(OperationCarrierTest, AnOperationThatIsGoneIsGivenUp) {
  carrier.add(test::id_of(99));
  carrier.step();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(carrier.stop().empty());
}

TEST_F(OperationCarrierTest, TheThreadWakesUpForWhatIsAdded) {
  carrier.start();
  const Uuid id = start_replay(1);
  carrier.add(id);
  while (seen(id).executor.empty()) std::this_thread::yield();
  EXPECT_EQ(carrier.stop(), std::vector<Uuid>{id});
}

}  // namespace
}  // namespace sluice::mcp
