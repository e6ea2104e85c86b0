// When dead letters that nobody has acknowledged are more than a note.
#pragma once

#include <cstdint>

namespace sluice {

/// From so many on; 0: never.
struct DeadLetterLevels {
  std::int64_t warning = 100;
  std::int64_t critical = 1000;
};

}  // namespace sluice
