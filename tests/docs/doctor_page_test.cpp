// docs/how-to/doctor.md explains every finding that there is, and none that there is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "ops/doctor.hpp"

namespace sluice {
namespace {

TEST(DoctorPage, HasAHeadingForEveryFinding) {
  std::ifstream page{SLUICE_SOURCE_DIR "/docs/how-to/doctor.md"};
  ASSERT_TRUE(page);
  std::vector<std::string> headings;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) headings.push_back(line.substr(3));
  }
  EXPECT_THAT(headings, testing::ElementsAreArray(ops::kFindingNames));
}

}  // namespace
}  // namespace sluice
