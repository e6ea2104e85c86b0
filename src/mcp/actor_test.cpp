#include "mcp/actor.hpp"

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

}  // namespace
}  // namespace sluice::mcp
