#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::Deployment;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SLUICE_CONTRACT(GenerationContract);

constexpr std::array kStates{GenerationState::allocated, GenerationState::live, GenerationState::draining,
                             GenerationState::retired};

TEST_P(GenerationContract, ANewStoreHasNoneAndDefaultsToTheFirst) {
  EXPECT_THAT(must(store().deployments()), IsEmpty());
  EXPECT_EQ(must(store().default_generation()), 1);
}

TEST_P(GenerationContract, NumbersAreAllocatedInTurn) {
  EXPECT_EQ(must(store().allocate_generation({}, "blue", operator_alice())).generation, 1);
  EXPECT_EQ(must(store().allocate_generation(7, "", operator_alice())).generation, 7);
  EXPECT_EQ(must(store().allocate_generation({}, "", operator_alice())).generation, 8);
  const auto all = must(store().deployments());
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].generation, 1);
  EXPECT_EQ(all[0].note, "blue");
  EXPECT_EQ(all[0].state, GenerationState::allocated);
  EXPECT_EQ(all[0].changed_by, "alice@example.com");
  EXPECT_EQ(all[2].generation, 8);
}

TEST_P(GenerationContract, TheSameNumberTwiceIsAConflict) {
  must(store().allocate_generation(3, "", operator_alice()));
  const auto refused = store().allocate_generation(3, "", operator_alice());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("3"));
}

TEST_P(GenerationContract, NumbersStartAtOne) {
  EXPECT_EQ(store().allocate_generation(0, "", operator_alice()).error().code, ErrorCode::invalid);
}

TEST_P(GenerationContract, ALifeFromAllocatedToRetired) {
  must(store().allocate_generation(1, "", operator_alice()));
  const Deployment live = must(store().move_generation(1, GenerationState::live, {"bob", "http", ""}));
  EXPECT_EQ(live.state, GenerationState::live);
  EXPECT_EQ(live.changed_by, "bob");
  EXPECT_TRUE(live.activated_at);
  EXPECT_EQ(live.draining_at, std::nullopt);
  EXPECT_TRUE(must(store().move_generation(1, GenerationState::draining, operator_alice())).draining_at);
  EXPECT_TRUE(must(store().move_generation(1, GenerationState::retired, operator_alice())).retired_at);
}

TEST_P(GenerationContract, MovesAreThoseOfTheTableAndNoOthers) {
  Generation next = 1;
  for (const GenerationState from : kStates) {
    for (const GenerationState to : kStates) {
      const Generation generation = next++;
      must(store().allocate_generation(generation, "", operator_alice()));
      for (const GenerationState step : {GenerationState::live, GenerationState::draining, GenerationState::retired}) {
        if (step <= from) must(store().move_generation(generation, step, operator_alice()));
      }
      const auto moved = store().move_generation(generation, to, operator_alice());
      EXPECT_EQ(moved.has_value(), is_legal(from, to)) << name(from) << " to " << name(to);
      if (!moved) {
        EXPECT_EQ(moved.error().code, ErrorCode::conflict);
      }
    }
  }
}

TEST_P(GenerationContract, AnUnknownGenerationIsNotFound) {
  EXPECT_EQ(store().move_generation(9, GenerationState::live, operator_alice()).error().code, ErrorCode::not_found);
}

TEST_P(GenerationContract, TheDefaultIsTheNewestThatIsLive) {
  for (const Generation generation : {1, 2, 3}) must(store().allocate_generation(generation, "", operator_alice()));
  EXPECT_EQ(must(store().default_generation()), 1);
  must(store().move_generation(2, GenerationState::live, operator_alice()));
  EXPECT_EQ(must(store().default_generation()), 2);
  must(store().move_generation(3, GenerationState::live, operator_alice()));
  EXPECT_EQ(must(store().default_generation()), 3);
  must(store().move_generation(3, GenerationState::draining, operator_alice()));
  EXPECT_EQ(must(store().default_generation()), 2);
}

TEST_P(GenerationContract, EveryChangeIsAudited) {
  must(store().allocate_generation(1, "", operator_alice()));
  must(store().move_generation(1, GenerationState::live, operator_alice()));
  must(store().move_generation(1, GenerationState::draining, operator_alice()));
  must(store().move_generation(1, GenerationState::retired, operator_alice()));
  ASSERT_FALSE(store().move_generation(1, GenerationState::live, operator_alice()));
  std::vector<std::string> actions;
  for (const auto& row : raw_sql("select action from {audit} order by id")) actions.push_back(row.at(0).value_or(""));
  EXPECT_THAT(actions, testing::ElementsAre("generation.allocate", "generation.activate", "generation.drain",
                                            "generation.retire"));
}

}  // namespace
}  // namespace sluice::contract
