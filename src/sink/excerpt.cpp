#include "sink/excerpt.hpp"

#include "core/printable.hpp"
#include "core/utf8.hpp"

namespace sluice::sink {

std::string excerpt(std::string_view said) {
  constexpr std::size_t kMostShown = 512;
  std::string line = printable(utf8::prefix(said, kMostShown));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace sluice::sink
