#include "ops/generations.hpp"

#include <gtest/gtest.h>

#include "tests/cli/fake_store.hpp"

namespace sluice::ops {
namespace {

class Generations : public testing::Test {
 protected:
  void add(Generation generation, GenerationState state) {
    store::Deployment deployment;
    deployment.generation = generation;
    deployment.state = state;
    data_.deployments.push_back(deployment);
  }
  test::FakeData data_;
  test::FakeStore store_{data_};
};

TEST_F(Generations, ThePreviewOfAnAllocationIsTheNextNumber) {
  EXPECT_EQ(*preview_allocation(store_, std::nullopt), 1);
  add(4, GenerationState::live);
  EXPECT_EQ(*preview_allocation(store_, std::nullopt), 5);
  EXPECT_EQ(*preview_allocation(store_, 9), 9);
  EXPECT_EQ(preview_allocation(store_, 4).error().code, ErrorCode::conflict);
  EXPECT_EQ(data_.deployments.size(), 1U);
}

TEST_F(Generations, ThePreviewOfAMoveFollowsTheStates) {
  add(1, GenerationState::allocated);
  add(2, GenerationState::retired);
  EXPECT_EQ(preview_move(store_, 1, GenerationState::live)->generation, 1);
  EXPECT_EQ(preview_move(store_, 2, GenerationState::live).error().code, ErrorCode::conflict);
  EXPECT_EQ(preview_move(store_, 3, GenerationState::live).error().code, ErrorCode::not_found);
}

TEST_F(Generations, TheJsonFieldsArePinned) {
  add(1, GenerationState::live);
  data_.deployments[0].note = "release";
  EXPECT_EQ(
      to_json(data_.deployments[0]),
      R"({"generation":1,"state":"live","note":"release","changed_by":"",)"
      R"("allocated_at":"1970-01-01T00:00:00.000000Z","activated_at":null,"draining_at":null,"retired_at":null})");
}

}  // namespace
}  // namespace sluice::ops
