#include "mcp/line_reader.hpp"

namespace sluice::mcp {

LineReader::Read LineReader::next(std::string& line) {
  line.clear();
  bool any = false;
  bool fits = true;
  for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
    any = true;
    if (c == '\n') break;
    fits = fits && line.size() < limit_;
    if (fits) line += std::istream::traits_type::to_char_type(c);
  }
  if (!any) return Read::end;
  if (fits) return Read::line;
  line.clear();
  return Read::too_long;
}

}  // namespace sluice::mcp
