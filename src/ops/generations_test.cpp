#include "ops/generations.hpp"

#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

class Generations : public testing::Test {
 protected:
  test::EmbeddedStore store_;
};

TEST_F(Generations, ThePreviewOfAnAllocationIsTheNextNumber) {
  EXPECT_EQ(*preview_allocation(*store_, std::nullopt), 1);
  store_.bring_generation(4, GenerationState::live);
  EXPECT_EQ(*preview_allocation(*store_, std::nullopt), 5);
  EXPECT_EQ(*preview_allocation(*store_, 9), 9);
  EXPECT_EQ(preview_allocation(*store_, 4).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->deployments()->size(), 1U);
}

TEST_F(Generations, ThePreviewOfAMoveFollowsTheStates) {
  store_.bring_generation(1, GenerationState::allocated);
  store_.bring_generation(2, GenerationState::retired);
  EXPECT_EQ(preview_move(*store_, 1, GenerationState::live)->generation, 1);
  EXPECT_EQ(preview_move(*store_, 2, GenerationState::live).error().code, ErrorCode::conflict);
  EXPECT_EQ(preview_move(*store_, 3, GenerationState::live).error().code, ErrorCode::not_found);
}

TEST_F(Generations, AMoveToWhereItIsChangesNothing) {
  const store::Actor alice{"alice", "cli", "again"};
  store_.bring_generation(1, GenerationState::allocated);
  EXPECT_TRUE(move_generation(*store_, 1, GenerationState::live, alice)->changed);
  const auto again = move_generation(*store_, 1, GenerationState::live, alice);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->deployment.state, GenerationState::live);
  EXPECT_EQ(preview_move(*store_, 1, GenerationState::live)->state, GenerationState::live);
  EXPECT_EQ(move_generation(*store_, 1, GenerationState::retired, alice).error().code, ErrorCode::conflict);
  EXPECT_EQ(move_generation(*store_, 9, GenerationState::live, alice).error().code, ErrorCode::not_found);
}

TEST_F(Generations, TheJsonFieldsArePinned) {
  store::Deployment deployment;
  deployment.generation = 1;
  deployment.state = GenerationState::live;
  deployment.note = "release";
  EXPECT_EQ(
      to_json(deployment),
      R"({"generation":1,"state":"live","note":"release","changed_by":"",)"
      R"("allocated_at":"1970-01-01T00:00:00.000000Z","activated_at":null,"draining_at":null,"retired_at":null})");
}

}  // namespace
}  // namespace sluice::ops
