// sluice.toml, flattened: every value with its dotted key and where it stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::config {

struct FileEntry {
  std::string key;    ///< `worker.batch`
  std::string value;  ///< as text: `10`, `5s`, `true`
  std::string where;  ///< `sluice.toml:3:9`
};

/// Tables become prefixes. Strings, integers, floats and booleans are values; anything else is an
/// error. `path` is only used to say where. Errors give line and column.
Result<std::vector<FileEntry>> parse_file(std::string_view text, const std::string& path);

/// Reads and parses; a file that cannot be read is an error that names it.
Result<std::vector<FileEntry>> read_file(const std::string& path);

}  // namespace sluice::config
