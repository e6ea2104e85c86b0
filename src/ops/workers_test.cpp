#include "ops/workers.hpp"

#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

store::WorkerRecord a_worker(const std::string& identity) {
  return {.identity = identity, .generation = 2, .handlers = {"billing.meter"}, .listener = "listening"};
}

TEST(Workers, OneThatIsSilentIsListedButNotAlive) {
  test::EmbeddedStore store;
  ASSERT_TRUE(store->announce(a_worker("w1")));
  store.now += kAliveWithin;
  ASSERT_TRUE(store->announce(a_worker("w2")));
  const auto seen = list_workers(*store);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->workers.size(), 2U);
  EXPECT_FALSE(is_alive(seen->workers[0], seen->now));
  EXPECT_TRUE(is_alive(seen->workers[1], seen->now));
  store.now += std::chrono::hours{24};
  EXPECT_TRUE(list_workers(*store)->workers.empty());
}

TEST(Workers, OnlyListeningIsListening) {
  store::WorkerRecord worker = a_worker("w1");
  EXPECT_TRUE(is_listening(worker));
  worker.listener = "polling";
  EXPECT_FALSE(is_listening(worker));
}

TEST(Workers, TheJsonFieldsArePinned) {
  EXPECT_EQ(to_json(a_worker("w1"), Timestamp{} + kAliveWithin),
            R"({"identity":"w1","generation":2,"handlers":["billing.meter"],"listener":"listening",)"
            R"("started_at":"1970-01-01T00:00:00.000000Z","seen_at":"1970-01-01T00:00:00.000000Z","alive":false})");
}

}  // namespace
}  // namespace sluice::ops
