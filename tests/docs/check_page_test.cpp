// docs/reference/check.md lists the gauges of src/ops/check.hpp with their defaults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "ops/check.hpp"

namespace sluice {
namespace {

TEST(CheckPage, ListsEveryGaugeWithItsDefaults) {
  std::ifstream file{SLUICE_SOURCE_DIR "/docs/reference/check.md"};
  ASSERT_TRUE(file);
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  for (const ops::Gauge& gauge : ops::kGauges) {
    const std::string start = "| `" + std::string{gauge.name} + "` | " + std::string{gauge.meaning};
    const std::size_t row = page.find(start);
    ASSERT_NE(row, std::string::npos) << start;
    const std::string line = page.substr(row, page.find('\n', row) - row);
    EXPECT_THAT(line, testing::EndsWith("| " + ops::in_words(gauge.unit, gauge.warn) + " | " +
                                        ops::in_words(gauge.unit, gauge.crit) + " |"));
  }
}

}  // namespace
}  // namespace sluice
