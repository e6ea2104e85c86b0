// docs/explanation/states.md shows the edge table of src/core/status.hpp, no more and no less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace sluice {
namespace {

TEST(StateDiagram, IsTheEdgeTable) {
  std::ifstream page{SLUICE_SOURCE_DIR "/docs/explanation/states.md"};
  ASSERT_TRUE(page);
  const std::regex arrow{R"(^\s+(\w+) --> (\w+) : (\w+)$)"};
  std::vector<std::string> drawn;
  for (std::string line; std::getline(page, line);) {
    if (std::smatch match; std::regex_match(line, match, arrow))
      drawn.push_back(match[1].str() + " " + match[2].str() + " " + match[3].str());
  }
  std::vector<std::string> edges;
  for (const Edge& edge : kEdges) {
    edges.push_back(std::string{name(edge.from)} + " " + std::string{name(edge.to)} + " " +
                    std::string{name(edge.cause)});
  }
  EXPECT_THAT(drawn, testing::UnorderedElementsAreArray(edges));
}

}  // namespace
}  // namespace sluice
