// Bodies as gzip: what the client sends, and what the server answers. The only place that sees zlib.
#pragma once

#include <string>
#include <string_view>

namespace sluice::http_client {

/// As `content-encoding: gzip` says.
std::string gzip(std::string_view text);

}  // namespace sluice::http_client
