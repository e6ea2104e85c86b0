#include "core/status.hpp"

#include <gtest/gtest.h>
#include <set>
#include <utility>

namespace sluice {
namespace {

static_assert(is_legal(Status::pending, Status::in_flight));
static_assert(is_legal(Status::delivered, Status::failed));
static_assert(!is_legal(Status::pending, Status::delivered));
static_assert(is_legal(Status::delivered, Status::pending));
static_assert(!is_legal(Status::delivered, Status::in_flight));
static_assert(kStatuses.size() == 4);

TEST(Status, OnlySevenOfTheSixteenPairsAreLegal) {
  const std::set<std::pair<Status, Status>> legal{
      {Status::pending, Status::in_flight}, {Status::in_flight, Status::delivered},
      {Status::in_flight, Status::pending}, {Status::in_flight, Status::failed},
      {Status::failed, Status::pending},    {Status::delivered, Status::failed},
      {Status::delivered, Status::pending},
  };
  int pairs = 0;
  for (const Status from : kStatuses) {
    for (const Status to : kStatuses) {
      ++pairs;
      EXPECT_EQ(is_legal(from, to), legal.contains({from, to})) << name(from) << " -> " << name(to);
    }
  }
  EXPECT_EQ(pairs, 16);
}

TEST(Status, EveryCauseBelongsToExactlyOneEdge) {
  std::set<Cause> causes;
  for (const Edge& edge : kEdges) EXPECT_TRUE(causes.insert(edge.cause).second) << name(edge.cause);
  EXPECT_EQ(causes.size(), 9U);
}

TEST(Status, NamesReadBack) {
  for (const Status status : kStatuses) EXPECT_EQ(parse_status(name(status)), status);
  EXPECT_EQ(name(Status::in_flight), "in_flight");
  EXPECT_EQ(parse_status("IN_FLIGHT"), std::nullopt);
  EXPECT_EQ(parse_status(""), std::nullopt);
}

TEST(Cause, EveryCauseHasItsOwnName) {
  std::set<std::string_view> names;
  for (const Edge& edge : kEdges) names.insert(name(edge.cause));
  EXPECT_EQ(names.size(), kEdges.size());
}

}  // namespace
}  // namespace sluice
