// A script for node, ready to run: an ES module looks for its packages beside itself.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/delivery/child.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {

/// Copies the script (`tests/alerts/x.mjs`) into the directory, beside a link to the packages of tests/node.
inline std::string node_script(const TempDir& directory, const std::string& script) {
  Child installing{{SLUICE_SOURCE_DIR "/tests/support/node-packages"}};
  const std::string packages = installing.read_line();
  if (installing.wait() != 0 || packages.empty()) throw std::runtime_error("the npm packages could not be installed");
  std::filesystem::create_directory_symlink(packages + "/node_modules", directory.file("node_modules"));
  const std::filesystem::path source = std::filesystem::path{SLUICE_SOURCE_DIR} / script;
  const std::string copy = directory.file(source.filename());
  std::filesystem::copy_file(source, copy);
  return copy;
}

}  // namespace sluice::test
