#include "mcp/server.hpp"

#include <ostream>
#include <string>

#include "mcp/line_reader.hpp"

namespace sluice::mcp {

void serve(std::istream& in, std::ostream& out, Protocol& protocol, std::size_t limit) {
  LineReader lines{in, limit};
  std::string line;
  for (auto read = lines.next(line); read != LineReader::Read::end && out; read = lines.next(line)) {
    if (read == LineReader::Read::too_long) {
      out << fault_message(
                 {FaultCode::invalid_request, "a message may have at most " + std::to_string(limit) + " bytes"})
          << std::endl;
      continue;
    }
    if (const auto answer = protocol.handle(line)) out << *answer << std::endl;
  }
}

}  // namespace sluice::mcp
