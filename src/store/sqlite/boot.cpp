#include "store/sqlite/boot.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace sluice::store::sqlite {

std::int64_t this_boot() {
  std::string id;
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  if (!std::getline(file, id) || id.empty()) return 1;
  // FNV-1a: the number goes into tokens that outlive the process, so it may not depend on the library.
  std::uint64_t number = 14695981039346656037U;
  for (const char c : id) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<std::int64_t>(number & std::numeric_limits<std::int64_t>::max()) | 1;
}

}  // namespace sluice::store::sqlite
