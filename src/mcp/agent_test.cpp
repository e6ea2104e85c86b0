#include "mcp/agent.hpp"

#include <gtest/gtest.h>

namespace sluice::mcp {
namespace {

TEST(ActorName, NamesTheAgentAndThePerson) {
  EXPECT_EQ(actor_name("triage", "alice@host"), "agent:triage (for alice@host)");
  EXPECT_EQ(actor_name(std::nullopt, "alice@host"), "agent:unknown agent (for alice@host)");
  EXPECT_EQ(actor_name("  ", "alice@host"), "agent:unknown agent (for alice@host)");
}

TEST(ActorName, AClientCannotLookLikeSomebodyElse) {
  EXPECT_EQ(actor_name("x (for root@host)\n\033[1m", "alice@host"), "agent:x _for root@host____1m (for alice@host)");
  EXPECT_EQ(actor_name(std::string(500, 'a'), "a@b"), "agent:" + std::string(64, 'a') + " (for a@b)");
}

TEST(Allowance, RowsAreSpentAndTheRefusalNamesBothNumbers) {
  Allowance allowance{{false, 10, 50}};
  EXPECT_TRUE(allowance.check_rows(10));
  allowance.spend(7);
  EXPECT_EQ(allowance.rows_left(), 3);
  EXPECT_TRUE(allowance.check_rows(3));
  const auto refused = allowance.check_rows(4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  EXPECT_EQ(refused.error().message, "4 events are more than the 3 of 10 that this server may still replay");
  EXPECT_NE(refused.error().hint.find("--max-rows"), std::string::npos);
}

TEST(Allowance, TheRateIsCapped) {
  const Allowance allowance{{false, 10, 50}};
  EXPECT_EQ(*allowance.rate(std::nullopt), 50);
  EXPECT_EQ(*allowance.rate(50), 50);
  const auto refused = allowance.rate(51);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "rate");
}

}  // namespace
}  // namespace sluice::mcp
