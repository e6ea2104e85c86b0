#include "core/words.hpp"

namespace sluice {

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string{noun} + (count == 1 ? "" : "s");
}

}  // namespace sluice
