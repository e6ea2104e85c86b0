#include "http_client/gzip.hpp"

#include <zlib.h>

#include <cassert>
#include <utility>

namespace sluice::http_client {

std::string gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemory = 8;
  z_stream stream{};
  [[maybe_unused]] const int ready =
      deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY);
  assert(ready == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  // zlib only reads it; its type has no const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT
  stream.avail_out = static_cast<uInt>(out.size());
  [[maybe_unused]] const int done = deflate(&stream, Z_FINISH);
  assert(done == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace sluice::http_client
