// The files of the console, built into the binary.
#pragma once

#include <span>
#include <string_view>

namespace sluice::http {

struct Asset {
  std::string_view path;      ///< `assets/index-5f1c0a9b.js`, without a leading slash
  std::string_view type;      ///< `text/javascript`
  std::string_view encoding;  ///< `gzip`, or empty: as it is; the start page `index.html` always is
  std::string_view body;
  std::string_view etag;  ///< with its quotes
};

std::span<const Asset> console_assets();

}  // namespace sluice::http
