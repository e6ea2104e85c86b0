#include "core/progress.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Progress, RoundTripsThroughJson) {
  const std::vector<HandlerProgress> progress{
      {"worlds.indexer", 2, Timestamp{std::chrono::seconds{1'750'000'000}}, false, "Error: \"quoted\"\n", "Error",
       "abc"},
      {"billing.invoice", 5, Timestamp{std::chrono::microseconds{1}}, true, {}, {}, {}},
  };
  const auto read = progress_from_json(progress_to_json(progress));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, progress);
}

TEST(Progress, NoneIsEmptyText) {
  EXPECT_EQ(progress_to_json({}), "");
  EXPECT_TRUE(progress_from_json("")->empty());
}

TEST(Progress, IgnoresWhatItDoesNotKnowAndRefusesNonsense) {
  const auto read = progress_from_json(R"([{"handler":"a.b","colour":"red"}])");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at(0).handler_name, "a.b");
  EXPECT_FALSE(progress_from_json("{"));
  EXPECT_FALSE(progress_from_json(R"([{"due":"yesterday"}])"));
  EXPECT_FALSE(progress_from_json(R"([{"handler":7}])"));
}

}  // namespace
}  // namespace sluice
