// Nothing is stranded, doubled or out of order, in whichever order the sessions' steps come.
#include <gtest/gtest.h>

#include "tests/interleaving/scenarios.hpp"

namespace sluice::test {
namespace {

void holds(const Scenario& scenario, std::uint64_t most = most_orders()) {
  World world;
  const Exploration exploration = explore(scenario, world, most, sample_seed());
  EXPECT_EQ(exploration.violation, "");
  EXPECT_GT(exploration.orders, 0U);
  testing::Test::RecordProperty("orders",
                                std::to_string(exploration.orders) + " of " + std::to_string(exploration.possible));
}

TEST(Interleaving, LateCommits) { holds(late_commits()); }
TEST(Interleaving, TwoLooks) { holds(two_looks()); }
TEST(Interleaving, LittleRoom) { holds(little_room()); }
TEST(Interleaving, LateSuccessor) { holds(late_successor()); }
TEST(Interleaving, LateSuccessorOfAFailure) { holds(late_successor(World::End::failed), most_orders() / 4); }
TEST(Interleaving, OutOfOrder) { holds(out_of_order()); }
TEST(Interleaving, Expiry) { holds(expiry()); }
TEST(Interleaving, Replay) { holds(replayed()); }
TEST(Interleaving, Cancel) { holds(cancelled()); }
TEST(Interleaving, RunNow) { holds(hurried()); }
TEST(Interleaving, Resend) { holds(sent_again()); }
TEST(Interleaving, Withdrawn) { holds(withdrawn()); }
TEST(Interleaving, PassersBy) { holds(passers_by()); }
TEST(Interleaving, MissingNumbers) { holds(missing_numbers()); }
TEST(Interleaving, OneStore) { holds(one_store()); }
TEST(Interleaving, OneStoreWhereRescansAreDear) { holds(one_store_where_rescans_are_dear()); }
TEST(Interleaving, TwoGroups) { holds(two_groups()); }
TEST(Interleaving, OverlappingClaims) { holds(overlapping_claims()); }
TEST(Interleaving, CrashOfAPublisher) { holds(crashed_publisher(), most_orders() / 4); }
TEST(Interleaving, CrashOfAWorker) { holds(crashed_worker(), most_orders() / 4); }
TEST(Interleaving, CrashOfALook) { holds(crashed_look(), most_orders() / 4); }
TEST(Interleaving, TheRelayIsTurnedOn) { holds(relay_on()); }
TEST(Interleaving, TheRelayIsTurnedBack) { holds(relay_back()); }
TEST(Interleaving, ReportsOfConsumers) { holds(reports()); }

}  // namespace
}  // namespace sluice::test
