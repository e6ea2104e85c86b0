// Texts that are part of the interface, as files below tests/golden. UPDATE_GOLDEN=1 rewrites them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace sluice::test {

/// `file` is relative to tests/golden.
inline void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = std::string{SLUICE_SOURCE_DIR} + "/tests/golden/" + file;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream{path} << text;
  std::ifstream stream{path};
  ASSERT_TRUE(stream) << path << " is missing; run with UPDATE_GOLDEN=1";
  const std::string golden{std::istreambuf_iterator<char>{stream}, {}};
  EXPECT_EQ(text, golden) << path << " differs; if the change is meant, run with UPDATE_GOLDEN=1";
}

}  // namespace sluice::test
