// Lines from a stream, none of them longer than a limit, however long the sender makes it.
#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace sluice::mcp {

class LineReader {
 public:
  LineReader(std::istream& in, std::size_t limit) : in_(in), limit_(limit) {}

  enum class Read { line, too_long, end };
  /// The next line without its end. A line that is too long is read to its end and dropped.
  Read next(std::string& line);

 private:
  std::istream& in_;
  std::size_t limit_;
};

}  // namespace sluice::mcp
